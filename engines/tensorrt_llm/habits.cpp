// What TensorRT-LLM's PyTorch backend does in a round by itself: the defaults of attn_backend, cuda_graph_config,
// disable_overlap_scheduler and eagle3_one_model (tensorrt_llm/llmapi/llm_args.py).
#include "engines/tensorrt_llm/parts.h"

namespace treeline::engines::tensorrt_llm {
namespace {

EngineHabit of_drafting(const sim::RoundSetup& setup) {
    if (is_looked_up(setup)) {
        return looked_up();
    }
    switch (kind_of(setup.drafter)) {
        case DrafterKind::eagle3:
        case DrafterKind::lookup_then_eagle3:
            return {"in the graph of the verification", "one engine holds target and drafter", "eagle3_one_model: false"};
        case DrafterKind::mtp:
            return {"in the graph of the verification", "one engine holds target and drafter", ""};
        default:
            return {};
    }
}

}  // namespace

EngineHabits habits(const Engine& /*engine*/, const sim::RoundSetup& setup) {
    return {{"TensorRT-LLM's kernels", "the default of attn_backend", "attn_backend: FLASHINFER"},
            {"whole", "cuda_graph_config is on by default, for the batches that it names", "cuda_graph_config: null"},
            of_drafting(setup),
            {"asynchronous", "the overlap scheduler is its default", "disable_overlap_scheduler: true"}};
}

}  // namespace treeline::engines::tensorrt_llm
