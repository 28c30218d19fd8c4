// TensorRT-LLM, PyTorch backend: the key `speculative_config` of the YAML that `--config` (older: --extra_llm_api_options)
// names. Read in tensorrt_llm/llmapi/llm_args.py and the API reference of the releases. The keys of `draft_len_schedule`
// changed from lower to upper bounds with pull request 10860 (merged 2026-03-13, 1.3.0rc8), which also made it apply to
// drafters that run inside the target's engine.
#include "engines/tensorrt_llm/parts.h"

namespace treeline::engines::tensorrt_llm {
namespace {

const std::vector<std::string> common = {"decoding_type",      "max_draft_len",         "max_total_draft_tokens",
                                         "speculative_model",  "speculative_model_dir", "max_concurrency",
                                         "draft_len_schedule", "load_format",           "allow_advanced_sampling"};
const std::vector<std::string> by_method = {"eagle_choices",
                                            "use_dynamic_tree",
                                            "dynamic_tree_max_topK",
                                            "num_eagle_layers",
                                            "max_non_leaves_per_layer",
                                            "eagle3_layers_to_capture",
                                            "eagle3_model_arch",
                                            "max_matching_ngram_size",
                                            "is_keep_all",
                                            "is_use_oldest",
                                            "is_public_pool",
                                            "num_nextn_predict_layers",
                                            "use_relaxed_acceptance_for_thinking",
                                            "relaxed_topk",
                                            "relaxed_delta",
                                            "use_mtp_vanilla",
                                            "medusa_choices",
                                            "num_medusa_heads",
                                            "max_window_size",
                                            "max_ngram_size",
                                            "max_verification_set_size"};

Engine base(const std::string& version, const std::string& source) {
    Engine engine;
    engine.name = EngineName::tensorrt_llm;
    engine.word = "tensorrt-llm";
    engine.title = "TensorRT-LLM";
    engine.version = version;
    engine.source = source;
    engine.caches = {{sim::NumberFormat::fp8, "fp8"}};
    engine.cache_words = {"auto", "fp8", "nvfp4"};  // kv_cache_config.dtype; of 1.2: NVIDIA/Model-Optimizer, issue 763
    engine.least_capability = 8.0;                  // its support matrix; Volta went with 0.18
    engine.keys = common;
    engine.add_keys(by_method);
    engine.refused = {{DrafterKind::medusa, "runs no Medusa heads on its PyTorch backend"}};
    return engine;
}

/// 1.2.1. Drafters inside the target's engine (the default of EAGLE-3 and MTP) do not read the schedule; "Eagle" means EAGLE-3
/// on the PyTorch backend.
Engine v1_2() {
    Engine engine = base("1.2", "NVIDIA/TensorRT-LLM, tensorrt_llm/llmapi/llm_args.py of 1.2");
    engine.schedule = ScheduleForm::lower_bounds;
    engine.methods = {"MTP",    "Eagle",     "Eagle3",    "NGram",        "DraftTarget",
                      "Medusa", "Lookahead", "SaveState", "UserProvided", "AUTO"};
    engine.drafters = {{DrafterKind::draft_model, "DraftTarget", true, true},
                       {DrafterKind::eagle3, "Eagle", true},
                       {DrafterKind::mtp, "MTP"},
                       {DrafterKind::ngram, "NGram", false, true}};
    engine.add_keys({"acceptance_window", "acceptance_length_threshold", "greedy_sampling", "posterior_threshold",
                     "eagle3_one_model", "mtp_eagle_one_model"});
    engine.retired = {{"pytorch_weights_path", "became speculative_model"},
                      {"prompt_lookup_num_tokens", "became max_draft_len"}};
    return engine;
}

Engine v1_3() {
    Engine engine = base("1.3", "NVIDIA/TensorRT-LLM, llm_args.py of 2026 and the API reference of 1.3.0rc29");
    engine.schedule = ScheduleForm::upper_bounds;
    // Pull request 11487 (March 2026): another format than the checkpoint's is a warning, where it was an error.
    engine.caches.push_back({sim::NumberFormat::fp4, "nvfp4"});
    engine.trees = EngineTrees::tensorrt_llm;
    engine.methods = {"MTP", "Eagle",  "Eagle3",    "NGram",     "Draft_Target",  "PARD", "DFlash",
                      "SA",  "Medusa", "Lookahead", "SaveState", "User_Provided", "AUTO"};
    engine.drafters = {{DrafterKind::draft_model, "Draft_Target", true, true},
                       {DrafterKind::eagle3, "Eagle3", true, true},
                       {DrafterKind::mtp, "MTP", false, true},
                       {DrafterKind::ngram, "NGram", false, true},
                       {DrafterKind::suffix, "SA"},
                       {DrafterKind::lookup_then_eagle3, "Eagle3", true, true},
                       {DrafterKind::pard, "PARD", true},
                       {DrafterKind::dflash, "DFlash", true}};
    engine.add_keys({"acceptance_window",
                     "acceptance_length_threshold",
                     "acceptance_rate_window_size",
                     "acceptance_rate_threshold",
                     "use_rejection_sampling",
                     "advanced_sampling_mode",
                     "enable_penalty",
                     "greedy_sampling",
                     "posterior_threshold",
                     "eagle3_one_model",
                     "mtp_eagle_one_model",
                     "sa_config",
                     "use_sa_spec",
                     "sa_spec_threshold",
                     "mask_token_id",
                     "target_layer_ids",
                     "enable_global_pool",
                     "global_pool_size",
                     "begin_thinking_phase_token",
                     "end_thinking_phase_token"});
    engine.retired = {{"pytorch_weights_path", "became speculative_model"},
                      {"prompt_lookup_num_tokens", "became max_draft_len"}};
    return engine;
}

Engine v1_4() {
    Engine engine = v1_3();
    engine.version = "1.4";
    engine.source = "NVIDIA/TensorRT-LLM, API reference of 1.4.0rc1";
    engine.add_keys({"moe_backend", "spec_dec_variant"});
    const auto retire = [&](const std::string& key, const std::string& instead) {
        std::erase(engine.keys, key);
        engine.retired.push_back({key, instead});
    };
    retire("eagle_choices", "was removed in 1.4 with static trees; use_dynamic_tree drafts trees");
    retire("greedy_sampling", "was removed in 1.4");
    retire("posterior_threshold", "was removed in 1.4");
    retire("eagle3_one_model", "was removed in 1.4: drafting always runs inside the target's engine");
    retire("mtp_eagle_one_model", "was removed in 1.4: drafting always runs inside the target's engine");
    retire("acceptance_window", "became acceptance_rate_window_size");
    retire("acceptance_length_threshold", "became acceptance_rate_threshold, a rate");
    return engine;
}

}  // namespace

std::vector<Engine> versions() { return {v1_2(), v1_3(), v1_4()}; }

}  // namespace treeline::engines::tensorrt_llm
