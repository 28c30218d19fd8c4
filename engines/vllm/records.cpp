// vLLM: `--speculative-config '<JSON>'`. Read in vllm/config (SpeculativeConfig) of vllm-project/vllm, by its history: which
// commit was main shortly before a release says what that release takes. The newest file read is at commit 002e77c1f0ef.
#include "engines/vllm/parts.h"

namespace treeline::engines::vllm {
namespace {

const RetiredKey wrong_tensor_parallel = {"tensor_parallel_size",
                                          "is rejected here; the drafter's is draft_tensor_parallel_size (1 or the target's)"};
const RetiredKey wrong_adaptive = {"adaptive_verification", "is now called enable_adaptive_verification"};

template <class T>
std::vector<T> joined(std::vector<T> a, const std::vector<T>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

Engine base(const std::string& version, const std::string& source) {
    Engine engine;
    engine.name = EngineName::vllm;
    engine.word = "vllm";
    engine.title = "vLLM";
    engine.version = version;
    engine.source = source;
    engine.keys = {"method",        "model",    "num_speculative_tokens", "draft_tensor_parallel_size", "quantization",
                   "max_model_len", "revision", "code_revision",          "prompt_lookup_max",          "prompt_lookup_min"};
    engine.retired = {wrong_tensor_parallel};
    engine.caches = {{sim::NumberFormat::fp8, "fp8"}};
    // Options of attention came with AttentionConfig in 0.13 (its API documentation); before, variables said the same.
    engine.dated_flags = {{{"0.10", "VLLM_FLASH_ATTN_VERSION=2"},
                           {"0.13", R"(--attention-config '{"backend": "FLASH_ATTN", "flash_attn_version": 2}')"}},
                          {{"0.10", "VLLM_ATTENTION_BACKEND=TRITON_ATTN"}, {"0.13", "--attention-backend TRITON_ATTN"}}};
    // Release notes of the project, and of images made of them (aws/deep-learning-containers, README.md).
    engine.releases = {{"0.10", "2025-07"}, {"0.11", "2025-10"}, {"0.12", "2025-12"}, {"0.13", "2025-12"}, {"0.14", "2026-01"},
                       {"0.15", "2026-01"}, {"0.16", "2026-02"}, {"0.17", "2026-03"}, {"0.19", "2026-04"}, {"0.20", "2026-04"},
                       {"0.23", "2026-06"}, {"0.24", "2026-06"}, {"0.25", "2026-07"}, {"0.26", "2026-07"}, {"0.27", "2026-08"},
                       {"0.28", "2026-08"}, {"0.29", "2026-09"}};
    engine.least_capability = 7.0;  // docs/getting_started/installation; builds with CUDA 13 begin at 7.5
    return engine;
}

/// Main of 2025-08-20 (8fd920924, vllm/config/__init__.py). Draft models raise NotImplementedError.
Engine v0_10() {
    Engine engine = base("0.10", "vllm-project/vllm, vllm/config/__init__.py at 8fd920924");
    engine.methods = {"ngram", "eagle", "eagle3", "medusa", "mlp_speculator", "draft_model", "deepseek_mtp"};
    engine.drafters = {{DrafterKind::eagle, "eagle", true},
                       {DrafterKind::eagle3, "eagle3", true},
                       {DrafterKind::mtp, "deepseek_mtp"},
                       {DrafterKind::medusa, "medusa", true},
                       {DrafterKind::mlp_speculator, "mlp_speculator", true},
                       {DrafterKind::ngram, "ngram"}};
    engine.keys = joined(engine.keys, {"disable_logprobs", "disable_by_batch_size", "speculative_token_tree"});
    engine.retired.push_back({"num_speculative_tokens_per_batch_size", "was added in 0.24; this version drafts one length"});
    return engine;
}

/// What the API pages of 0.11.0 say of SpeculativeConfig: modules for multi-token prediction under one name, and methods of
/// later models. The V0 engine is gone.
Engine v0_11() {
    Engine engine = v0_10();
    engine.version = "0.11";
    engine.source = "vLLM's API documentation, vllm.config.speculative of v0.11.0";
    engine.methods =
        joined(engine.methods, {"mtp", "mimo_mtp", "glm4_moe_mtp", "ernie_mtp", "qwen3_next_mtp", "longcat_flash_mtp"});
    for (EngineDrafter& drafter : engine.drafters) {
        drafter.word = drafter.kind == DrafterKind::mtp ? "mtp" : drafter.word;
    }
    engine.keys = joined(engine.keys, {"enforce_eager", "disable_padded_drafter_batch"});
    std::erase(engine.keys, "disable_by_batch_size");
    engine.retired.push_back({"disable_by_batch_size", "has no effect since the V0 engine went"});  // a field up to 0.14
    return engine;
}

/// With suffix decoding (pull request 25784).
Engine v0_11_1() {
    Engine engine = v0_11();
    engine.version = "0.11.1";
    engine.source += "; pull request 25784 (suffix decoding)";
    engine.methods.emplace_back("suffix");
    engine.drafters.push_back({DrafterKind::suffix, "suffix"});
    engine.keys = joined(engine.keys, {"suffix_decoding_max_tree_depth", "suffix_decoding_max_cached_requests",
                                       "suffix_decoding_max_spec_factor", "suffix_decoding_min_token_prob"});
    return engine;
}

const std::vector<std::string> mtp_names = {"deepseek_mtp",   "mimo_mtp",           "glm4_moe_mtp",      "glm4_moe_lite_mtp",
                                            "glm_ocr_mtp",    "ernie_mtp",          "nemotron_h_mtp",    "exaone_moe_mtp",
                                            "qwen3_next_mtp", "qwen3_5_mtp",        "longcat_flash_mtp", "mtp",
                                            "step3p5_mtp",    "pangu_ultra_moe_mtp"};
const std::vector<std::string> later_mtp_names = {
    "dots3_note_mtp", "mimo_v2_mtp",        "exaone4_5_mtp", "qwen4_exp_mtp", "bailing_hybrid_v3_mtp",
    "minimax_m3_mtp", "bailing_hybrid_mtp", "kimi_k3_mtp",   "hy_v3_mtp",     "hy_v4_mtp",
    "gemma4_mtp",     "inkling_mtp",        "glm5_next_mtp"};

std::vector<EngineDrafter> drafters(bool schedule) {
    return {{DrafterKind::draft_model, "draft_model", true, schedule},
            {DrafterKind::eagle, "eagle", true, schedule},
            {DrafterKind::eagle3, "eagle3", true, schedule},
            {DrafterKind::mtp, "mtp", false, schedule},
            {DrafterKind::mtp_on_target_cache, "mtp", true, schedule},
            {DrafterKind::medusa, "medusa", true, schedule},
            {DrafterKind::mlp_speculator, "mlp_speculator", true, schedule},
            {DrafterKind::suffix, "suffix", false, schedule},
            {DrafterKind::ngram, "ngram", false, schedule},
            {DrafterKind::pard, "draft_model", true},
            {DrafterKind::p_eagle, "eagle3", true},
            {DrafterKind::dflash, "dflash", true, schedule}};
}

/// Main of 2026-04-08 (2488d1dca).
Engine v0_19() {
    Engine engine = base("0.19", "vllm-project/vllm, vllm/config/speculative.py at 2488d1dca");
    engine.methods = joined({"ngram", "ngram_gpu", "suffix", "medusa", "mlp_speculator", "draft_model", "eagle", "eagle3",
                             "extract_hidden_states", "dflash"},
                            mtp_names);
    engine.drafters = drafters(false);
    engine.keys = joined(engine.keys, {"enforce_eager", "moe_backend", "disable_padded_drafter_batch",
                                       "use_local_argmax_reduction", "speculative_token_tree", "parallel_drafting",
                                       "suffix_decoding_max_tree_depth", "suffix_decoding_max_cached_requests",
                                       "suffix_decoding_max_spec_factor", "suffix_decoding_min_token_prob", "draft_load_config",
                                       "rejection_sample_method", "synthetic_acceptance_rate"});
    engine.retired =
        joined(engine.retired, {{"num_speculative_tokens_per_batch_size", "was added in 0.24; this version drafts one length"},
                                {"disable_by_batch_size", "was removed with the V0 engine"}});
    return engine;
}

/// The first of those whose V1 engine drafts with models; what came between it and 0.19 (parallel drafting, DFlash) is not told
/// apart.
Engine v0_15() {
    Engine engine = v0_19();
    engine.version = "0.15";
    return engine;
}

/// Main of 2026-06-25 (e2af449c3), eleven days after the schedule by batch size (4ef4492e9, pull request 32374).
Engine v0_24() {
    Engine engine =
        base("0.24", "vllm-project/vllm, vllm/config/speculative.py at e2af449c3; docs/features/speculative_decoding");
    engine.schedule = ScheduleForm::ranges;
    engine.methods = joined(joined({"ngram", "ngram_gpu", "suffix", "medusa", "mlp_speculator", "draft_model", "custom_class",
                                    "eagle", "eagle3", "extract_hidden_states", "dflash"},
                                   mtp_names),
                            later_mtp_names);
    engine.drafters = drafters(true);
    engine.keys = joined(engine.keys, {"enforce_eager", "moe_backend", "attention_backend", "disable_padded_drafter_batch",
                                       "use_local_argmax_reduction", "parallel_drafting",
                                       "num_speculative_tokens_per_batch_size", "suffix_decoding_max_tree_depth",
                                       "suffix_decoding_max_cached_requests", "suffix_decoding_max_spec_factor",
                                       "suffix_decoding_min_token_prob", "draft_load_config", "rejection_sample_method",
                                       "synthetic_acceptance_rates", "synthetic_acceptance_length", "draft_sample_method"});
    engine.retired = joined(
        engine.retired, {{"speculative_token_tree", "was removed in 2026 with tree attention; vLLM drafts chains"},
                         {"disable_by_batch_size", "was removed with the V0 engine; use num_speculative_tokens_per_batch_size"},
                         {"synthetic_acceptance_rate", "became synthetic_acceptance_rates, one for each position"}});
    engine.caches.push_back({sim::NumberFormat::int8, "int8_per_token_head"});  // pull request 38378 of April 2026
    return engine;
}

/// CacheDType of vllm/config/cache.py at 002f10e0cfa1. "nvfp4" came with pull request 40177, int4_per_token_head with 40835.
void add_caches_of_0_33(Engine& engine) {
    using enum sim::NumberFormat;
    engine.caches = joined<CacheFormat>(engine.caches,
                                        {{int4, "int4_per_token_head"}, {fp4, "nvfp4"}, {bf16, "bfloat16"}, {fp16, "float16"}});
    engine.cache_words = {"auto",
                          "float16",
                          "bfloat16",
                          "fp8",
                          "fp8_e4m3",
                          "fp8_e5m2",
                          "fp8_inc",
                          "fp8_ds_mla",
                          "nvfp4_ds_mla",
                          "turboquant_k8v4",
                          "turboquant_4bit_nc",
                          "turboquant_k3v4_nc",
                          "turboquant_3bit_nc",
                          "int4_per_token_head",
                          "int8_per_token_head",
                          "fp8_per_token_head",
                          "nvfp4",
                          "nvfp4_4over6"};
}

/// Of July 2026. What came with it is told by pull requests that were merged between the two: 46995 (DSpark; issues 49369 and
/// 51454 run it), 46781 (verification by blocks) and 38174 (vocabularies of drafters).
Engine v0_25() {
    Engine engine = v0_24();
    engine.version = "0.25";
    engine.source += "; pull requests 46995, 46781 and 38174";
    engine.methods.emplace_back("dspark");
    engine.drafters.push_back({DrafterKind::dspark, "dspark", true});
    engine.keys.emplace_back("use_heterogeneous_vocab");
    return engine;
}

/// With pull request 48787 (merged 2026-07-16). Up to 0.27 no other key was added.
Engine v0_26() {
    Engine engine = v0_25();
    engine.version = "0.26";
    engine.source += "; pull request 48787";
    engine.keys.emplace_back("kv_cache_dtype");
    return engine;
}

/// The same as 0.26, so that what came later is known not to be in it.
Engine v0_27() {
    Engine engine = v0_26();
    engine.version = "0.27";
    return engine;
}

/// The newest file read: commit 002e77c1f0ef.
Engine v0_33() {
    Engine engine = v0_27();
    engine.version = "0.33";
    engine.source = "vllm-project/vllm, vllm/config/speculative.py at 002e77c1f0ef; docs/features/speculative_decoding";
    engine.keys = joined(engine.keys, {"index_share_for_mtp_iteration", "disable_eagle_block_drop",
                                       "enable_adaptive_verification", "dspark_draft_topk"});
    engine.retired.push_back(wrong_adaptive);
    add_caches_of_0_33(engine);
    return engine;
}

}  // namespace

std::vector<Engine> versions() {
    return {v0_10(), v0_11(), v0_11_1(), v0_15(), v0_19(), v0_24(), v0_25(), v0_26(), v0_27(), v0_33()};
}

}  // namespace treeline::engines::vllm
