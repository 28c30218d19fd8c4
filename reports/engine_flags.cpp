#include "reports/engine_flags.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/number_text.h"

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

/// The best design that an engine can express: of the recommended drafter, with a shape that the engine has.
struct Expressible {
    const Candidate* candidate = nullptr;  ///< null where none keeps the limits
    const Speculation* speculation = nullptr;
    std::string loss;  ///< against the recommendation; empty when there is none
};

template <class HasShape>
Expressible best_expressible(const Recommendation& recommendation, HasShape has_shape) {
    const std::string& drafter = recommendation.variants[recommendation.candidates.front().variant].labels.drafter;
    for (const Candidate& candidate : recommendation.candidates) {
        const Speculation& speculation = recommendation.speculations[static_cast<std::size_t>(candidate.speculation)];
        const bool same_drafter = recommendation.variants[candidate.variant].labels.drafter == drafter;
        if (candidate.draft_tokens > 0 && same_drafter && has_shape(speculation)) {
            const bool loses = candidate.regret > 0.0005;
            return {&candidate, &speculation,
                    loses ? fmt::format("it cannot express the recommended {}; this is {} worse",
                                        text_of(recommendation.speculations[static_cast<std::size_t>(
                                            recommendation.candidates.front().speculation)]),
                                        percent_text(candidate.regret))
                          : ""};
        }
    }
    return {};
}

constexpr const char* no_such_shape =
    "has none of the shapes asked for that keep the limits: add chains (draft_tokens) or its own trees to the shapes";

void add_remark(EngineFlags& flags, const std::string& remark) {
    if (!remark.empty()) {
        flags.remark += (flags.remark.empty() ? "" : "; ") + remark;
    }
}

EngineFlags vllm(const Recommendation& recommendation, const Names& names) {
    EngineFlags flags{"vLLM (main of 2026)", "", ""};
    const Expressible best = best_expressible(recommendation, is_chain);
    if (names.vllm == nullptr || best.candidate == nullptr) {
        flags.remark = names.vllm == nullptr ? no_such_drafter : no_such_shape;
        return flags;
    }
    nlohmann::ordered_json config = {{"method", names.vllm}};
    if (names.needs_model) {
        config["model"] = "PATH_OF_THE_DRAFTER";
    }
    int longest = best.candidate->draft_tokens;
    nlohmann::ordered_json ranges = nlohmann::ordered_json::array();
    for (const ScheduleEntry& entry : recommendation.chain_schedule.entries) {
        longest = std::max(longest, entry.draft_tokens);
        ranges.push_back({entry.batch_from, entry.batch_to, entry.draft_tokens});
    }
    config["num_speculative_tokens"] = longest;
    if (ranges.size() > 1) {
        config["num_speculative_tokens_per_batch_size"] = ranges;
    }
    flags.text = fmt::format("--speculative-config '{}'", config.dump());
    add_remark(flags, best.loss);
    return flags;
}

EngineFlags sglang(const Recommendation& recommendation, const Names& names) {
    EngineFlags flags{"SGLang (0.5)", "", ""};
    const Expressible best = best_expressible(recommendation, [](const Speculation& speculation) {
        return is_chain(speculation) || std::holds_alternative<SglangShape>(speculation.shape);
    });
    if (names.sglang == nullptr || best.candidate == nullptr) {
        flags.remark = names.sglang == nullptr ? no_such_drafter : no_such_shape;
        return flags;
    }
    // SGLang counts the root: a chain of k drafts is k steps, top-k 1, k + 1 draft tokens.
    const int k = best.candidate->draft_tokens;
    const auto* tree = std::get_if<SglangShape>(&best.speculation->shape);
    const SglangShape shape = tree != nullptr ? *tree : SglangShape{k, 1, k + 1};
    flags.text = fmt::format("--speculative-algorithm {}", names.sglang);
    if (names.needs_model) {
        flags.text += " --speculative-draft-model-path PATH_OF_THE_DRAFTER";
        flags.text += fmt::format(" --speculative-num-steps {} --speculative-eagle-topk {}", shape.steps, shape.top_k);
    }
    flags.text += fmt::format(" --speculative-num-draft-tokens {}", shape.draft_tokens);
    flags.remark = tree != nullptr ? "one tree for every batch size" : "one length for every batch size";
    add_remark(flags, best.loss);
    return flags;
}

EngineFlags tensorrt_llm(const Recommendation& recommendation, const Names& names) {
    EngineFlags flags{"TensorRT-LLM (1.3), extra options YAML", "", ""};
    const Expressible best = best_expressible(recommendation, [](const Speculation& speculation) {
        return is_chain(speculation) || std::holds_alternative<TensorRtShape>(speculation.shape);
    });
    if (names.tensorrt_llm == nullptr || best.candidate == nullptr) {
        flags.remark = names.tensorrt_llm == nullptr ? no_such_drafter : no_such_shape;
        return flags;
    }
    flags.text = fmt::format("speculative_config:\n  decoding_type: {}\n", names.tensorrt_llm);
    if (const auto* tree = std::get_if<TensorRtShape>(&best.speculation->shape)) {
        flags.text += fmt::format(
            "  max_draft_len: {}\n  use_dynamic_tree: true\n  dynamic_tree_max_topK: {}\n  max_total_draft_tokens: {}\n",
            tree->max_draft_len, tree->max_top_k, tree->max_total_draft_tokens);
    } else {
        int longest = best.candidate->draft_tokens;
        for (const ScheduleEntry& entry : recommendation.chain_schedule.entries) {
            longest = std::max(longest, entry.draft_tokens);
        }
        flags.text += fmt::format("  max_draft_len: {}\n", longest);
    }
    if (names.needs_model) {
        flags.text += "  speculative_model: PATH_OF_THE_DRAFTER\n";
    }
    if (is_chain(*best.speculation) && recommendation.chain_schedule.entries.size() > 1) {
        flags.text += "  draft_len_schedule:\n";
        for (const ScheduleEntry& entry : recommendation.chain_schedule.entries) {
            flags.text += fmt::format("    {}: {}\n", entry.batch_to, entry.draft_tokens);
        }
    }
    add_remark(flags, best.loss);
    return flags;
}

EngineFlags llama_cpp(const Recommendation& recommendation, const Names& names) {
    EngineFlags flags{"llama.cpp (2026)", "", ""};
    const Expressible best = best_expressible(recommendation, is_chain);
    if (names.llama_cpp == nullptr || best.candidate == nullptr) {
        flags.remark = names.llama_cpp == nullptr ? no_such_drafter : no_such_shape;
        return flags;
    }
    const std::string type = names.llama_cpp;
    flags.text = fmt::format("{}{}--spec-draft-n-max {}", type.empty() ? "" : "--spec-type " + type + " ",
                             names.needs_model ? "--model-draft PATH_OF_THE_DRAFTER.gguf " : "", best.candidate->draft_tokens);
    flags.remark = "one length for every batch size";
    add_remark(flags, best.loss);
    return flags;
}

}  // namespace

std::vector<EngineFlags> engine_flags(const Recommendation& recommendation) {
    const Candidate& best = recommendation.candidates.front();
    if (!recommendation.speculate || recommendation.variants[best.variant].setup.platform.accelerator) {
        return {};
    }
    const Names names = names_of(recommendation.variants[best.variant].setup.drafter);
    return {vllm(recommendation, names), sglang(recommendation, names), tensorrt_llm(recommendation, names),
            llama_cpp(recommendation, names)};
}

}  // namespace treeline
