// Flags of `treeline estimate` as keys of a point.
#include "json/wording.h"
#include "requests/keys/point_keys.h"
#include "requests/keys/setup_keys.h"
#include "requests/placement_reader.h"
#include "requests/point_reader.h"

namespace treeline::requests {
namespace {

constexpr std::string_view drafter_path = "drafter", acceptance_path = "drafter.acceptance",
                           length_path = "drafter.acceptance.mean_length";

void set_acceptance(FlagJson& point, const FlagTexts& flags) {
    const std::string& acceptance = given(flags, acceptance_path);
    const std::string& length = given(flags, length_path);
    if (!acceptance.empty() && !length.empty()) {
        throw text::InputError({"flags: --acceptance and --accept-length say the same thing; give one of them"});
    }
    if (acceptance.empty() && length.empty()) {
        return;
    }
    if (!point.contains("drafter") || !point["drafter"].is_object()) {
        throw text::InputError({"flags: --acceptance and --accept-length need a --drafter"});
    }
    point["drafter"]["acceptance"] =
        acceptance.empty()
            ? accept_length_of_flag(length, point.value("draft_tokens", FlagJson(point_keys::usual_draft_tokens)),
                                    given(flags, "shape"))
            : acceptance_of_flag(acceptance);
}

void set_drafter(FlagJson& point, const FlagTexts& flags) {
    if (const std::string& drafter = given(flags, drafter_path); drafter == no_drafter_word) {
        point.erase("drafter");
        if (!any_given(flags, "traffic")) {  // of the file's drafter
            point.erase("traffic");
        }
    } else if (!drafter.empty()) {
        const FlagJson before = point.value("drafter", FlagJson::object());
        point["drafter"] = drafter_of_flag(drafter);
        if (before.is_object() && before.contains("acceptance") && !point["drafter"].contains("acceptance")) {
            point["drafter"]["acceptance"] = before["acceptance"];
        }
    }
    if (const std::string& precision = given(flags, "drafter.precision"); !precision.empty()) {
        if (!point.contains("drafter") || !point["drafter"].is_object()) {
            throw text::InputError({"flags: --draft-precision needs a --drafter"});
        }
        point["drafter"]["precision"] = value_of_flag(precision);
    }
    set_acceptance(point, flags);
    if (!given(flags, drafter_path).empty() && point.contains("drafter") && is_kind_alone(point["drafter"])) {
        point["drafter"] = FlagJson(point["drafter"]["kind"]);  // as a published one of this kind accepts
    }
}

}  // namespace

const std::vector<KeyFlag>& point_flags() {
    using json::help_of;
    static const std::vector<KeyFlag> flags = {
        {"--target,--model", "NAME|PATH", "target.model",
         "Target: " + json::without_backticks(std::string(target_keys::model.meaning))},
        {"--precision", "FORMAT|JSON", "target.precision",
         "Checkpoint format (bf16, fp8, int4, nvfp4, ...), or JSON by part (default: as published)"},
        {"--kv-cache", "FORMAT", "target.precision.kv_cache",
         "Format of keys and values (bf16, fp8, int8, fp4, ...; default: as published)"},
        {"--placement", "WHERE|JSON", "target.placement",
         "What lies in the host's memory: experts, experts:38 (of the first 38 layers), weights:12 or gpu-layers:20",
         placement_of_flag},
        {"--device", "NAME|PATH", "platform.device", help_of(platform_keys::device)},
        {"--design", "NAME|PATH", "platform.design", help_of(platform_keys::design)},
        {"--host", "NAME|PATH", "platform.host", help_of(platform_keys::host)},
        {"--tensor-parallel", "N", "platform.tensor_parallel", help_of(platform_keys::tensor_parallel)},
        {"--gpus", "N", "platform.gpus", help_of(platform_keys::gpus)},
        {"--expert-parallel", "N", "platform.expert_parallel", help_of(platform_keys::expert_parallel)},
        {"--attention-data-parallel", "N", "platform.attention_data_parallel", help_of(platform_keys::attention_data_parallel)},
        {"--pipeline-parallel", "N", "platform.pipeline_parallel", help_of(platform_keys::pipeline_parallel)},
        {"--draft-tensor-parallel", "N", "platform.draft_tensor_parallel", help_of(platform_keys::draft_tensor_parallel)},
        {"--decode-context-parallel", "N", "platform.decode_context_parallel", help_of(platform_keys::decode_context_parallel)},
        {"--interconnect", "NAME", "platform.interconnect", help_of(platform_keys::interconnect)},
        {"--stack", "NAME|PATH", "platform.stack", help_of(platform_keys::stack)},
        {"--engine", "NAME[@VERSION]", "platform.engine",
         "Engine whose stack is taken: vllm, sglang, tensorrt-llm or llama.cpp, optionally with a version (default: --stack)"},
        {"--expert-kernels", "NAME|PATH", "platform.expert_kernels", help_of(platform_keys::expert_kernels)},
        {"--attention-kernels", "NAME|PATH", "platform.attention_kernels", help_of(platform_keys::attention_kernels)},
        {"--mode", "MODE", "platform.mode", help_of(platform_keys::mode)},
        {"--prefill", "POLICY", "platform.prefill", help_of(platform_keys::prefill)},
        {"--token-budget", "TOKENS", "platform.token_budget", help_of(platform_keys::token_budget)},
        {"--memory-utilisation", "SHARE", "platform.memory_utilisation", help_of(platform_keys::memory_utilisation)},
        {"--host-speed", "SPEED", "platform.host_speed", help_of(platform_keys::host_speed)},
        {"--power-limit", "WATTS", "platform.power_limit", help_of(platform_keys::power_limit)},
        {"--price", "DOLLARS", "platform.price", help_of(platform_keys::price)},
        {"--concurrency", "N", "concurrency",
         "Load: requests that clients keep in flight; needs --output-tokens. Those that memory does not hold wait"},
        {"--arrival-rate", "PER_SECOND", "arrival_rate", "Load: requests that arrive at random; needs --output-tokens"},
        {"--prompt", "LENGTHS", "prompt_tokens", "Lengths of prompts: 355, 200:0.7,2000:0.3 or JSON", lengths_of_flag},
        {"--output-tokens", "LENGTHS", "output_tokens",
         "Lengths of answers in the steady state, in the same form (default 0, decoding alone)", lengths_of_flag},
        {"--batch", "N", "batch", "Load of decoding alone: sequences decoded together (default 1)"},
        {"--context", "TOKENS", "context", help_of(point_keys::context)},
        {"--drafter", "NAME|KIND|JSON", "drafter", "Drafter (default, and none: plain decoding): " + drafter_choices(),
         nullptr},
        {"--acceptance", "RATE", "drafter.acceptance",
         "How many drafts are accepted: by position (0.8,0.65,0.5), the rate of the first (0.8; later ones fall as measured "
         "curves "
         "do), geometric:0.8 (the same rate of every draft), or a measurement's file",
         nullptr},
        {"--accept-length", "[K:]TOKENS", "drafter.acceptance.mean_length",
         "Alternative: mean tokens per round, bonus token included; with K drafts 4:2.6, of the tree of --shape 2.6", nullptr},
        {"--draft-precision", "FORMAT|JSON", "drafter.precision",
         "Format of a drafter that is a model, or a head with layers of its own: fp8, q4_k_m, ... (default: as published)",
         nullptr},
        {"--categories", "NAME:SHARE,...", "traffic.categories",
         "Kinds of requests that a published drafter is asked for: chat:0.6,code:0.4", shares_by_name},
        {"--temperature", "T", "traffic.temperature", help_of(traffic_kind_keys::temperature)},
        {"--thinking", "on|off", "traffic.thinking", help_of(traffic_kind_keys::thinking)},
        {"--draft-tokens", "K", "draft_tokens", help_of(point_keys::draft_tokens), value_of_flag,
         "drafter.acceptance.draft_tokens"},
        {"--shape,--tree", "TREE", "shape", "Instead of a chain: a tree as in `treeline tree` (sglang:5,4,32, a name or path)"},
        {"--verification", "NAME", "verification", "auto (default), " + text::listed(names_of<sim::Verification>(), "or")},
        {"--prefix-hit", "SHARE", "prefix_hit", help_of(point_keys::prefix_hit)},
        {"--shared-prefix", "TOKENS", "shared_prefix", help_of(point_keys::shared_prefix)},
        {"--expert-pool", "SHARE", "expert_pool", help_of(point_keys::expert_pool)},
        {"--rollback", "POLICY", "rollback", "auto (default), " + text::listed(names_of<sim::Rollback>(), "or")},
        {"--decoding", "WAY", "decoding", help_of(point_keys::decoding)},
        {"--decoding-budget", "COST", "training.decoding_budget",
         help_of(training_keys::decoding_budget) + ", in any currency; also reports whether training the drafter pays"},
        {"--draft-training", "COST", "training.draft_training",
         help_of(training_keys::draft_training) + ", in the same currency"},
    };
    return flags;
}

FlagJson with_flags(FlagJson point, const FlagTexts& flags) {
    if (!point.is_object()) {
        return point;  // the reader says what is wrong with it
    }
    if (!given(flags, "platform.device").empty() && point.contains("platform") && point["platform"].is_object()) {
        point["platform"].erase("design");  // the file's design belongs to the file's board
    }
    for (const char* load : {"batch", "concurrency", "arrival_rate"}) {
        if (!given(flags, load).empty()) {  // takes the place of the file's load, however that is stated
            for (const char* key : {"batch", "concurrency", "arrival_rate"}) {
                point.erase(key);
            }
        }
    }
    set_given(point, point_flags(), flags);
    set_drafter(point, flags);
    return point;
}

}  // namespace treeline::requests
