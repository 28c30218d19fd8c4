#include "reports/engine_flags.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace treeline {
namespace {

/// What each engine calls the kinds of drafter that Treeline knows; nullptr = it has none, empty = it needs no name.
struct Names {
    const char* vllm = nullptr;
    const char* sglang = nullptr;
    const char* tensorrt_llm = nullptr;
    const char* llama_cpp = nullptr;
    bool needs_model = false;
};

Names names_of(const Drafter& drafter) {
    struct Visitor {
        Names operator()(const IndependentDrafter&) const { return {"draft_model", "STANDALONE", "Draft_Target", "", true}; }
        Names operator()(const OneLayerDrafter&) const { return {"eagle3", "EAGLE3", "Eagle3", "draft-eagle3", true}; }
        Names operator()(const MedusaDrafter&) const { return {"medusa", nullptr, "Medusa", nullptr, true}; }
        Names operator()(const NgramDrafter&) const { return {"ngram", "NGRAM", "NGram", "ngram-simple", false}; }
        Names operator()(const SparseSelfDrafter&) const { return {}; }
        Names operator()(const SpireDrafter&) const { return {}; }
    };
    return std::visit(Visitor{}, drafter);
}

constexpr const char* no_such_drafter = "has no drafter of this kind";

EngineFlags vllm(const Recommendation& recommendation, const Names& names, int longest) {
    EngineFlags flags{"vLLM (main of 2026)", "", ""};
    if (names.vllm == nullptr) {
        flags.remark = no_such_drafter;
        return flags;
    }
    nlohmann::ordered_json config = {{"method", names.vllm}};
    if (names.needs_model) {
        config["model"] = "PATH_OF_THE_DRAFTER";
    }
    config["num_speculative_tokens"] = longest;
    nlohmann::ordered_json ranges = nlohmann::ordered_json::array();
    for (const ScheduleEntry& entry : recommendation.schedule.entries) {
        ranges.push_back({entry.batch_from, entry.batch_to, entry.draft_tokens});
    }
    if (ranges.size() > 1) {
        config["num_speculative_tokens_per_batch_size"] = ranges;
    }
    flags.text = fmt::format("--speculative-config '{}'", config.dump());
    return flags;
}

EngineFlags sglang(const Names& names, int draft_tokens) {
    EngineFlags flags{"SGLang (0.5)", "", ""};
    if (names.sglang == nullptr) {
        flags.remark = no_such_drafter;
        return flags;
    }
    // SGLang counts the root: a chain of k drafts is k steps, top-k 1, k + 1 draft tokens.
    flags.text = fmt::format("--speculative-algorithm {}", names.sglang);
    if (names.needs_model) {
        flags.text += " --speculative-draft-model-path PATH_OF_THE_DRAFTER";
        flags.text += fmt::format(" --speculative-num-steps {} --speculative-eagle-topk 1", draft_tokens);
    }
    flags.text += fmt::format(" --speculative-num-draft-tokens {}", draft_tokens + 1);
    flags.remark = "one length for every batch size";
    return flags;
}

EngineFlags tensorrt_llm(const Recommendation& recommendation, const Names& names, int longest) {
    EngineFlags flags{"TensorRT-LLM (1.3), extra options YAML", "", ""};
    if (names.tensorrt_llm == nullptr) {
        flags.remark = no_such_drafter;
        return flags;
    }
    flags.text = fmt::format("speculative_config:\n  decoding_type: {}\n  max_draft_len: {}\n", names.tensorrt_llm, longest);
    if (names.needs_model) {
        flags.text += "  speculative_model: PATH_OF_THE_DRAFTER\n";
    }
    if (recommendation.schedule.entries.size() > 1) {
        flags.text += "  draft_len_schedule:\n";
        for (const ScheduleEntry& entry : recommendation.schedule.entries) {
            flags.text += fmt::format("    {}: {}\n", entry.batch_to, entry.draft_tokens);
        }
    }
    return flags;
}

EngineFlags llama_cpp(const Names& names, int draft_tokens) {
    EngineFlags flags{"llama.cpp (2026)", "", ""};
    if (names.llama_cpp == nullptr) {
        flags.remark = no_such_drafter;
        return flags;
    }
    const std::string type = names.llama_cpp;
    flags.text = fmt::format("{}{}--spec-draft-n-max {}", type.empty() ? "" : "--spec-type " + type + " ",
                             names.needs_model ? "--model-draft PATH_OF_THE_DRAFTER.gguf " : "", draft_tokens);
    flags.remark = "one length for every batch size";
    return flags;
}

}  // namespace

std::vector<EngineFlags> engine_flags(const Recommendation& recommendation) {
    if (!recommendation.speculate) {
        return {};
    }
    const Candidate& best = recommendation.candidates.front();
    const Names names = names_of(recommendation.variants[best.variant].setup.drafter);
    int longest = best.draft_tokens;
    for (const ScheduleEntry& entry : recommendation.schedule.entries) {
        longest = std::max(longest, entry.draft_tokens);
    }
    return {vllm(recommendation, names, longest), sglang(names, best.draft_tokens),
            tensorrt_llm(recommendation, names, longest), llama_cpp(names, best.draft_tokens)};
}

}  // namespace treeline
