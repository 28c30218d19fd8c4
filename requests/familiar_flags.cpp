#include "requests/familiar_flags.h"

#include <algorithm>
#include <array>

#include "text/split.h"

namespace treeline::requests {
namespace {

struct Familiar {
    std::string here;   ///< the flag of ours; of several, the command's own, between commas
    std::string names;  ///< of vLLM, SGLang, TensorRT-LLM, llama.cpp and their benchmarks, between spaces
};

const std::array<Familiar, 26>& familiar() {
    static const std::array<Familiar, 26> all = {{
        {"--target", "--model-path --model-id --hf-repo --checkpoint"},
        {"--device", "--gpu --hardware --system --accelerator"},
        {"--gpus,--tensor-parallel", "--devices --num-gpus --n-gpus --gpu-count --total-gpus --world-size --ranks"},
        {"--tensor-parallel", "--tp --tp-size --tensor-parallel-size --tensor-model-parallel-size"},
        {"--pipeline-parallel", "--pp --pp-size --pipeline-parallel-size"},
        {"--expert-parallel", "--ep --ep-size --enable-expert-parallel"},
        {"--attention-data-parallel", "--dp --dp-size --data-parallel-size --enable-dp-attention"},
        {"--engine", "--backend --framework --server"},
        {"--precision", "--dtype --quantization --quant --weight-format --weights"},
        {"--kv-cache", "--kv-cache-dtype --cache-type-k --ctk"},
        {"--concurrency", "--max-concurrency --max-num-seqs --users --num-users --max-running-requests --parallel --clients"},
        {"--arrival-rate", "--request-rate --qps --rps --rate"},
        {"--prompt", "--input-len --random-input-len --random-input --input-tokens --isl --prompt-tokens --prompt-length"},
        {"--output-tokens", "--output-len --random-output-len --random-output --osl --max-tokens --n-predict --answer"},
        {"--context", "--ctx-size --max-model-len --context-length --seq-len"},
        {"--drafter",
         "--draft --draft-model --speculative-model --speculative-draft-model-path --spec-type --speculative-algorithm"},
        {"--draft-tokens",
         "--num-speculative-tokens --speculative-num-steps --draft-max --spec-draft-n-max --k --gamma --num-drafts"},
        {"--acceptance", "--alpha --acceptance-rate --accept-rate --acceptance-rates"},
        {"--memory-utilisation", "--gpu-memory-utilization --mem-fraction-static --memory-utilization --memory-fraction"},
        {"--batch", "--batch-size --bs --max-batch-size"},
        {"--shape", "--tree --trees --topk --speculative-eagle-topk --eagle-choices --speculative-token-tree"},
        {"--draft-precision", "--draft-quantization --draft-dtype --speculative-draft-model-quantization"},
        {"--objective", "--goal --optimize --optimise --optimize-for --optimise-for --metric"},
        {"--max-tpot-ms", "--tpot --max-tpot --max-itl-ms --itl"},
        {"--max-ttft-ms", "--ttft --max-ttft"},
        {"--placement", "--n-cpu-moe --cpu-moe -ncmoe --n-gpu-layers --gpu-layers -ngl --override-tensor -ot --cpu-offload-gb"},
    }};
    return all;
}

}  // namespace

std::string flag_here(const std::string& flag, const std::vector<std::string>& flags) {
    for (const Familiar& each : familiar()) {
        const std::vector<std::string> names = text::split(each.names, ' ');
        if (std::find(names.begin(), names.end(), flag) == names.end()) {
            continue;
        }
        for (const std::string& here : text::split(each.here, ',')) {
            if (std::find(flags.begin(), flags.end(), here) != flags.end()) {
                return here;
            }
        }
    }
    return "";
}

}  // namespace treeline::requests
