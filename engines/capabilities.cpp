#include "engines/capabilities.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engines/definition.h"
#include "engines/parallel_flags.h"
#include "text/wording.h"

namespace treeline::engines {
namespace {

/// Targets whose attention TensorRT-LLM's dynamic trees do not run on (docs/source/features/speculative-decoding.md).
bool has_latent_or_windowed_attention(const sim::Model& model) {
    for (const sim::LayerKind& kind : model.kinds) {
        for (const sim::Block& block : kind.blocks) {
            const auto* attention = std::get_if<sim::Attention>(&block.kind);
            if (std::holds_alternative<sim::LatentAttention>(block.kind) ||
                std::holds_alternative<sim::CompressedAttention>(block.kind) ||
                (attention != nullptr && attention->reach.window != sim::unlimited)) {
                return true;
            }
        }
    }
    return false;
}

/// Whether a schedule by batch applies to the drafter; attention data parallelism drops it.
bool takes_lengths(const Engine& engine, const sim::RoundSetup& setup) {
    const EngineDrafter* drafter = engine.drafter(kind_of(setup.drafter));
    return drafter != nullptr && drafter->scheduled && !has_groups(setup.platform);
}

bool takes_word(const ModelRule& rule, const std::string& word) {
    return std::find(rule.words.begin(), rule.words.end(), word) != rule.words.end();
}

}  // namespace

std::string device_problem(const Engine& engine, const sim::Device& device) {
    return device.compute_capability == 0.0 || device.compute_capability >= engine.least_capability
               ? ""
               : fmt::format("its kernels need compute capability {:.1f}, and {} has {:.1f}", engine.least_capability,
                             device.name, device.compute_capability);
}

std::string drafter_problem(const Engine& engine, DrafterKind kind) {
    if (engine.drafter(kind) != nullptr) {
        return {};
    }
    if (const Engine* later = next_known(engine); later != nullptr && later->drafter(kind) != nullptr) {
        return fmt::format("whether {} {} drafts with {} is not known: {} does not, {} does", engine.title, engine.asked,
                           name_of(kind), engine.version, later->version);
    }
    for (const RefusedDrafter& refused : engine.refused) {
        if (refused.kind == kind) {
            return engine.label() + " " + refused.why;
        }
    }
    if (kind == DrafterKind::eagle && engine.drafter(DrafterKind::eagle3) != nullptr) {
        return fmt::format("{} runs only EAGLE-3 heads", engine.label());
    }
    return kind == DrafterKind::other ? fmt::format("{} has no drafter of this kind", engine.label())
                                      : fmt::format("{} does not draft with {}", engine.label(), name_of(kind));
}

std::optional<ModelRule> model_rule(const Engine& engine, const sim::Model& target) {
    for (const ModelRule& rule : dialect_of(engine).model_rules) {
        if ((rule.until.empty() || engine.numbers() < rule.until) && rule.covers(target)) {
            return rule;
        }
    }
    return std::nullopt;
}

std::string word_for(const Engine& engine, const EngineDrafter& drafter, const sim::Model& target) {
    const std::optional<ModelRule> rule = model_rule(engine, target);
    const auto [word, other] = dialect_of(engine).alias;
    return rule && drafter.word == word && !takes_word(*rule, drafter.word) ? std::string(other) : drafter.word;
}

std::string model_problem(const Engine& engine, DrafterKind kind, const sim::Model& target) {
    const std::optional<ModelRule> rule = model_rule(engine, target);
    const EngineDrafter* drafter = engine.drafter(kind);
    if (!rule || drafter == nullptr || takes_word(*rule, word_for(engine, *drafter, target))) {
        return "";
    }
    return rule->words.empty() ? fmt::format("{} drafts nothing for {} ({})", engine.label(), rule->models, rule->source)
                               : fmt::format("{} drafts for {} with {} alone ({})", engine.label(), rule->models,
                                             text::listed(rule->words, "and"), rule->source);
}

std::vector<RollbackChoice> rollbacks_at(const Engine& engine, const sim::Model& target, const sim::Stack& stack) {
    std::vector<RollbackChoice> choices;
    for (const sim::Rollback rollback : sim::rollbacks_for(target, stack, true)) {
        const auto flag = stack.states.rollback_flags.find(rollback);
        const bool by_itself = flag == stack.states.rollback_flags.end();
        if (const std::string called = by_itself ? "" : engine.flag_at(flag->second); by_itself || !called.empty()) {
            choices.push_back({rollback, called});
        }
    }
    return choices;
}

std::string rollback_problem(const Engine& engine, const sim::RoundSetup& setup) {
    const auto& flags = setup.platform.stack.states.rollback_flags;
    const auto flag = flags.find(setup.rollback);
    if (flag == flags.end() || std::holds_alternative<sim::NoDrafter>(setup.drafter) || !engine.flag_at(flag->second).empty()) {
        return "";
    }
    std::vector<std::string> others;
    for (const RollbackChoice& choice : rollbacks_at(engine, setup.target, setup.platform.stack)) {
        others.emplace_back(name_of(choice.rollback));
    }
    return fmt::format("{} has no {}, with which it would roll back by {}; it came with {}{}", engine.label(), flag->second,
                       name_of(setup.rollback), engine.flag_since(flag->second),
                       others.empty() ? "" : fmt::format(" (it has {})", fmt::join(others, ", ")));
}

bool is_translated(const Engine& engine, const sim::RoundSetup& setup) {
    const auto* drafter = std::get_if<sim::IndependentDrafter>(&setup.drafter);
    if (drafter == nullptr || drafter->translated) {
        return drafter != nullptr;
    }
    const auto needs_equal_rows = dialect_of(engine).needs_equal_rows;
    const sim::Count rows = drafter->model.vocabulary_size;
    return needs_equal_rows != nullptr && needs_equal_rows(engine) && rows > 0 && rows != setup.target.vocabulary_size;
}

std::string translation_problem(const Engine& engine, const sim::RoundSetup& setup) {
    if (!is_translated(engine, setup) || dialect_of(engine).translates(engine)) {
        return "";
    }
    const auto& drafter = std::get<sim::IndependentDrafter>(setup.drafter);
    return drafter.translated
               ? fmt::format("{} does not translate tokens of a drafter with another vocabulary", engine.label())
               : fmt::format(
                     "{} ends at the start where the draft model's embedding has another number of rows than the "
                     "target's: {} and {}",
                     engine.label(), drafter.model.vocabulary_size, setup.target.vocabulary_size);
}

std::string drafting_problem(const Engine& engine, const sim::RoundSetup& setup) {
    const DrafterKind kind = kind_of(setup.drafter);
    for (const std::string& problem : {drafter_problem(engine, kind), model_problem(engine, kind, setup.target),
                                       rollback_problem(engine, setup), translation_problem(engine, setup)}) {
        if (!problem.empty()) {
            return problem;
        }
    }
    const std::string cut = parallel_problem(engine, kind, setup.platform);
    return cut.empty() ? "" : fmt::format("{} {}", engine.title, cut);
}

std::string schedule_problem(const Engine& engine, const sim::RoundSetup& setup) {
    const auto problem = dialect_of(engine).schedule_problem;
    return takes_lengths(engine, setup) && problem != nullptr ? problem(engine, setup) : "";
}

bool changes_lengths(const Engine& engine, const sim::RoundSetup& setup) {
    return takes_lengths(engine, setup) && schedule_problem(engine, setup).empty();
}

std::string load_problem(const Engine& engine, const sim::Model& target) {
    const auto problem = dialect_of(engine).load_problem;
    return problem == nullptr ? "" : problem(engine, target);
}

sim::DraftedTrees drafted_trees(const Engine& engine, DrafterKind kind, const sim::Model& target) {
    if (engine.trees == EngineTrees::sglang && (kind == DrafterKind::eagle || kind == DrafterKind::eagle3)) {
        return sim::DraftedTrees::sglang;
    }
    return engine.trees == EngineTrees::tensorrt_llm && kind == DrafterKind::eagle3 && !has_latent_or_windowed_attention(target)
               ? sim::DraftedTrees::tensorrt_llm
               : sim::DraftedTrees::none;
}

std::string tree_problem(const Engine& engine, DrafterKind kind, const sim::Speculation& speculation,
                         const sim::Model& target) {
    if (sim::is_chain(speculation)) {
        return {};
    }
    switch (drafted_trees(engine, kind, target)) {
        case sim::DraftedTrees::sglang:
            return std::holds_alternative<sim::SglangShape>(speculation.shape)
                       ? ""
                       : fmt::format("trees of {} are stated as steps, top-k and draft tokens (sglang:5,4,32)", engine.label());
        case sim::DraftedTrees::tensorrt_llm:
            return std::holds_alternative<sim::TensorRtShape>(speculation.shape)
                       ? ""
                       : fmt::format("trees of {} are stated as depth, top-k and draft tokens (tensorrt_llm:3,4,12)",
                                     engine.label());
        case sim::DraftedTrees::any:
        case sim::DraftedTrees::none:
            break;
    }
    return engine.trees == EngineTrees::none
               ? fmt::format("{} drafts chains only", engine.label())
               : fmt::format("{} drafts chains only with {} for {}", engine.label(), name_of(kind), target.name);
}

}  // namespace treeline::engines
