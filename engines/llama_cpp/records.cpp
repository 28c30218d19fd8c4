// llama.cpp: command-line flags. Read in docs/speculative.md, common/arg.cpp and common/speculative.cpp of the tree of build
// b9987 (August 2026), through unslothai/llama.cpp at d32676d77426; --spec-synth-* as 0.5.0 (September 2026) has them.
#include "engines/llama_cpp/parts.h"

namespace treeline::engines::llama_cpp {

std::vector<Engine> versions() {
    Engine engine;
    engine.name = EngineName::llama_cpp;
    engine.word = "llama.cpp";
    engine.title = "llama.cpp";
    engine.version = "b9987";
    engine.source =
        "ggml-org/llama.cpp of August 2026, through unslothai/llama.cpp at d32676d77426: common/arg.cpp, docs/speculative.md";
    engine.methods = {"none",        "draft-simple", "draft-eagle3", "draft-dflash",  "draft-dspark", "draft-mtp",
                      "ngram-cache", "ngram-simple", "ngram-map-k",  "ngram-map-k4v", "ngram-mod"};
    engine.drafters = {{DrafterKind::draft_model, "draft-simple", true},
                       {DrafterKind::eagle3, "draft-eagle3", true},
                       {DrafterKind::mtp, "draft-mtp"},
                       {DrafterKind::dflash, "draft-dflash", true},
                       {DrafterKind::dspark, "draft-dspark", true},
                       {DrafterKind::mtp_on_target_cache, "draft-mtp", true},
                       {DrafterKind::lookup_then_eagle3, "ngram-simple,draft-eagle3", true},
                       {DrafterKind::ngram, "ngram-simple"}};
    engine.caches = {{sim::NumberFormat::int8, "q8_0"}, {sim::NumberFormat::int4, "q4_0"}};
    engine.cache_words = {"f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "iq4_nl", "q5_0", "q5_1"};  // kv_cache_types
    engine.keys = {"--spec-type",
                   "--spec-default",
                   "--spec-draft-model",
                   "--model-draft",
                   "-md",
                   "--spec-draft-hf",
                   "--hf-repo-draft",
                   "-hfd",
                   "-hfrd",
                   "--spec-draft-n-max",
                   "--spec-draft-n-min",
                   "--spec-draft-p-min",
                   "--draft-p-min",
                   "--spec-draft-p-split",
                   "--draft-p-split",
                   "--spec-draft-conf-min",
                   "--spec-synth-len",
                   "--spec-synth-rates",
                   "--spec-draft-backend-sampling",
                   "--no-spec-draft-backend-sampling",
                   "--spec-draft-ngl",
                   "--gpu-layers-draft",
                   "--n-gpu-layers-draft",
                   "-ngld",
                   "--spec-draft-device",
                   "--device-draft",
                   "-devd",
                   "--spec-draft-threads",
                   "--spec-draft-threads-batch",
                   "--spec-draft-cpu-mask",
                   "--spec-draft-cpu-range",
                   "--spec-draft-cpu-strict",
                   "--spec-draft-prio",
                   "--spec-draft-poll",
                   "--spec-draft-cpu-mask-batch",
                   "--spec-draft-cpu-range-batch",
                   "--spec-draft-cpu-strict-batch",
                   "--spec-draft-prio-batch",
                   "--spec-draft-poll-batch",
                   "--spec-draft-type-k",
                   "--spec-draft-type-v",
                   "--spec-draft-override-tensor",
                   "--spec-draft-cpu-moe",
                   "--spec-draft-n-cpu-moe",
                   "--spec-draft-ncmoe",
                   "--spec-ngram-mod-n-match",
                   "--spec-ngram-mod-n-min",
                   "--spec-ngram-mod-n-max",
                   "--spec-ngram-simple-size-n",
                   "--spec-ngram-simple-size-m",
                   "--spec-ngram-simple-min-hits",
                   "--spec-ngram-map-k-size-n",
                   "--spec-ngram-map-k-size-m",
                   "--spec-ngram-map-k-min-hits",
                   "--spec-ngram-map-k4v-size-n",
                   "--spec-ngram-map-k4v-size-m",
                   "--spec-ngram-map-k4v-min-hits"};
    const std::string length = "was removed; use --spec-draft-n-max, or --spec-ngram-mod-n-max for ngram-mod";
    const std::string shortest = "was removed; use --spec-draft-n-min, or --spec-ngram-mod-n-min for ngram-mod";
    engine.retired = {
        {"--draft", length},
        {"--draft-n", length},
        {"--draft-max", length},
        {"--draft-min", shortest},
        {"--draft-n-min", shortest},
        {"--spec-ngram-size-n", "was removed; use the size-n of the type, as in --spec-ngram-simple-size-n"},
        {"--spec-ngram-size-m", "was removed; use the size-m of the type, as in --spec-ngram-simple-size-m"},
        {"--spec-ngram-min-hits", "was removed; use the min-hits of the type, as in --spec-ngram-simple-min-hits"}};
    return {engine};
}

}  // namespace treeline::engines::llama_cpp
