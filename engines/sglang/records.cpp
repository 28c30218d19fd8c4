// SGLang: command-line flags, and a file for the schedule. Read at the releases 0.5.9 and 0.5.11, and on main of August to
// November 2026 (server_args.py, arg_groups/speculative_hook.py, speculative/adaptive_spec_params.py at 015c872628e3), which
// represents 0.5.23.
#include "engines/sglang/parts.h"

namespace treeline::engines::sglang {
namespace {

Engine base(const std::string& version, const std::string& source) {
    Engine engine;
    engine.name = EngineName::sglang;
    engine.word = "sglang";
    engine.title = "SGLang";
    engine.version = version;
    engine.source = source;
    engine.least_capability = 7.5;  // of FlashInfer, whose attention it runs
    engine.trees = EngineTrees::sglang;
    // Choices of --kv-cache-dtype (server_args.py). fp4_e2m1 came with pull requests 10078 (latents) and 12612 (heads) of
    // autumn 2025.
    engine.caches = {
        {sim::NumberFormat::fp8, "fp8_e4m3"}, {sim::NumberFormat::fp4, "fp4_e2m1"}, {sim::NumberFormat::bf16, "bf16"}};
    engine.counts_root = true;
    // Under the first name in 0.5.16 alone (kvcached's patches for both versions).
    engine.dated_flags = {{{"0.5.16", "--enable-gdn-replayssm-spec"}, {"0.5.17", "--enable-linear-replayssm-spec"}},
                          {{"0.5.16", "--linear-replayssm-cache-len"}}};
    // Announcements of the releases, and of images made of them (aws/deep-learning-containers, README.md).
    engine.releases = {{"0.5.9", "2026-02"},  {"0.5.10", "2026-04"}, {"0.5.11", "2026-05"}, {"0.5.13", "2026-06"},
                       {"0.5.16", "2026-07"}, {"0.5.17", "2026-08"}, {"0.5.19", "2026-09"}};
    engine.methods = {"EAGLE", "EAGLE3", "NEXTN", "STANDALONE", "NGRAM"};
    engine.drafters = {{DrafterKind::draft_model, "STANDALONE", true},
                       {DrafterKind::eagle, "EAGLE", true},
                       {DrafterKind::eagle3, "EAGLE3", true},
                       {DrafterKind::mtp, "NEXTN"},
                       {DrafterKind::ngram, "NGRAM"}};
    engine.keys = {"--speculative-algorithm",
                   "--speculative-draft-model-path",
                   "--speculative-draft-model",
                   "--speculative-draft-model-revision",
                   "--speculative-draft-load-format",
                   "--speculative-num-steps",
                   "--speculative-eagle-topk",
                   "--speculative-num-draft-tokens",
                   "--speculative-accept-threshold-single",
                   "--speculative-accept-threshold-acc",
                   "--speculative-token-map",
                   "--speculative-attention-mode",
                   "--speculative-draft-attention-backend",
                   "--speculative-moe-runner-backend",
                   "--speculative-draft-model-quantization",
                   "--speculative-ngram-min-bfs-breadth",
                   "--speculative-ngram-max-bfs-breadth",
                   "--speculative-ngram-match-type",
                   "--speculative-ngram-capacity"};
    return engine;
}

Engine v0_5_9() {
    Engine engine = base("0.5.9", "sgl-project/sglang, server_args.py at v0.5.9");
    engine.add_keys({"--speculative-ngram-min-match-window-size", "--speculative-ngram-max-match-window-size",
                     "--speculative-ngram-branch-length"});
    engine.retired = {{"--speculative-adaptive", "was added in 0.5.11"},
                      {"--speculative-adaptive-config", "was added in 0.5.11"}};
    return engine;
}

const std::vector<RetiredKey> gone_since_0_5_10 = {
    {"--speculative-ngram-min-match-window-size", "was removed in 0.5.10; use --speculative-ngram-max-trie-depth"},
    {"--speculative-ngram-max-match-window-size", "was removed in 0.5.10; use --speculative-ngram-max-trie-depth"},
    {"--speculative-ngram-branch-length", "was removed in 0.5.10; use --speculative-ngram-max-trie-depth"}};

/// Adaptive steps exist, but one set of at least two candidates for all batches, and only without the overlap scheduler.
Engine v0_5_11() {
    Engine engine = base("0.5.11", "sgl-project/sglang, server_args.py and adaptive_spec_params.py at v0.5.11");
    engine.methods.emplace_back("DFLASH");
    engine.drafters.push_back({DrafterKind::dflash, "DFLASH", true});
    engine.add_keys({"--speculative-adaptive", "--speculative-adaptive-config", "--speculative-dflash-block-size",
                     "--speculative-dflash-draft-window-size", "--speculative-ngram-max-trie-depth",
                     "--speculative-ngram-external-corpus-path", "--speculative-ngram-external-sam-budget",
                     "--speculative-ngram-external-corpus-max-tokens", "--speculative-skip-dp-mlp-sync"});
    engine.retired = gone_since_0_5_10;
    return engine;
}

Engine v0_5_23() {
    Engine engine = v0_5_11();
    engine.version = "0.5.23";
    engine.source =
        "sgl-project/sglang, adaptive_spec_params.py and arg_groups/fields/spec.py at 015c872628e3; server_args.py and "
        "speculative_hook.py at 30cb848d4b45";
    engine.schedule = ScheduleForm::slots;
    for (EngineDrafter& drafter : engine.drafters) {
        drafter.scheduled =
            drafter.kind == DrafterKind::eagle || drafter.kind == DrafterKind::eagle3 || drafter.kind == DrafterKind::mtp;
    }
    engine.methods.insert(engine.methods.end(), {"DSPARK", "FROZEN_KV_MTP", "UNO"});
    engine.drafters.push_back({DrafterKind::dspark, "DSPARK", true});
    engine.drafters.push_back({DrafterKind::mtp_on_target_cache, "FROZEN_KV_MTP", true});
    engine.add_keys({"--speculative-dspark-block-size", "--speculative-dspark-sps-table-path",
                     "--speculative-dspark-confidence-sts-path", "--speculative-dspark-align-verify-tokens-to-graph-tier",
                     "--speculative-use-rejection-sampling", "--speculative-draft-kv-cache-dtype",
                     "--speculative-draft-window-size", "--speculative-draft-sink-size", "--speculative-moe-a2a-backend",
                     "--speculative-use-block-verification", "--speculative-domino-candidate-pool-size",
                     "--speculative-dsa-topk-backend", "--speculative-enable-w4a4-mxfp4-megamoe"});
    // arg_groups/fields/model.py of autumn 2026; "nvfp4" came with pull request 21601.
    engine.cache_words = {"auto", "fp8_e5m2", "fp8_e4m3", "mxfp8", "bf16", "bfloat16", "nvfp4", "fp4_mx_block16", "fp4_e2m1"};
    std::erase(engine.keys, "--speculative-dflash-draft-window-size");
    engine.retired.push_back({"--speculative-dflash-draft-window-size",
                              "is an old name, which SGLang warns of; use --speculative-draft-window-size", true});
    return engine;
}

}  // namespace

std::vector<Engine> versions() { return {v0_5_9(), v0_5_11(), v0_5_23()}; }

}  // namespace treeline::engines::sglang
