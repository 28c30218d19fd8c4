#include "engines/flag_plan.h"

#include <algorithm>

#include <fmt/format.h>

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

bool can_draft(const Engine& engine, DrafterKind kind, const sim::Speculation& speculation, const sim::Model& target) {
    if (sim::is_chain(speculation)) {
        return true;
    }
    if (engine.trees == EngineTrees::sglang) {
        return std::holds_alternative<sim::SglangShape>(speculation.shape) &&
               (kind == DrafterKind::eagle || kind == DrafterKind::eagle3);
    }
    return engine.trees == EngineTrees::tensorrt_llm && kind == DrafterKind::eagle3 &&
           std::holds_alternative<sim::TensorRtShape>(speculation.shape) && !has_latent_or_windowed_attention(target);
}

/// Why an engine lacks a kind of drafter.
std::string absence(const Engine& engine, DrafterKind kind) {
    if (engine.name == EngineName::tensorrt_llm && kind == DrafterKind::medusa) {
        return "its PyTorch backend has no Medusa";
    }
    if (engine.name == EngineName::tensorrt_llm && kind == DrafterKind::eagle) {
        return "its PyTorch backend runs only EAGLE-3 heads";
    }
    if (engine.name == EngineName::llama_cpp && kind == DrafterKind::eagle) {
        return "it runs only EAGLE-3 heads";
    }
    return kind == DrafterKind::other ? "has no drafter of this kind" : fmt::format("does not draft with {}", name_of(kind));
}

constexpr const char* no_such_shape =
    "has none of the given shapes that meet the limits: add chains (draft_tokens) or its own trees to the shapes";

/// The best candidate of the recommended drafter with a shape that the engine has; null if none meets the limits.
const sweeps::Candidate* best_expressible(const sweeps::Recommendation& recommendation, const Engine& engine,
                                          DrafterKind kind) {
    const std::optional<std::size_t> drafter =
        recommendation.variants[recommendation.candidates.front().variant].origin.drafter;
    for (const sweeps::Candidate& candidate : recommendation.candidates) {
        const sweeps::Variant& variant = recommendation.variants[candidate.variant];
        const sim::Speculation& speculation = recommendation.speculations[static_cast<std::size_t>(candidate.speculation)];
        if (candidate.draft_tokens > 0 && variant.origin.drafter == drafter &&
            parallel_problem(engine, kind, variant.setup.platform).empty() &&
            can_draft(engine, kind, speculation, variant.setup.target)) {
            return &candidate;
        }
    }
    return nullptr;
}

/// What is lost by a shape that is not the recommended one.
std::string loss_of(const sweeps::Recommendation& recommendation, const sweeps::Candidate& candidate) {
    const auto& best = recommendation.candidates.front();
    if (candidate.regret <= 0.0005) {
        return "";
    }
    const sweeps::VariantLabels &wanted = recommendation.variants[best.variant].labels,
                                &has = recommendation.variants[candidate.variant].labels;
    const std::string cut = wanted.platform() == has.platform() ? "" : " on " + wanted.platform();
    return fmt::format("it cannot express the recommended {}{}; this is {:.1f} % worse",
                       text_of(recommendation.speculations[static_cast<std::size_t>(best.speculation)]), cut,
                       100.0 * candidate.regret);
}

void remark(FlagPlan& plan, const std::string& text) {
    if (!text.empty()) {
        plan.remarks.push_back(text);
    }
}

/// Sets lengths by batch if the engine takes them, and adds remarks about batch sizes. False if no chain pays at any batch.
bool plan_lengths(FlagPlan& plan, const sweeps::Schedule& schedule) {
    const std::vector<PlannedLength> lengths = lengths_of(schedule);
    const bool never_pays = !lengths.empty() && std::all_of(lengths.begin(), lengths.end(), [](const PlannedLength& length) {
        return length.draft_tokens == 0;
    });
    if (never_pays) {
        return false;
    }
    if (lengths.size() > 1 && plan.drafter.scheduled) {
        plan.schedule = lengths;
    } else if (lengths.size() > 1) {
        remark(plan, lengths.back().draft_tokens == 0
                         ? fmt::format("one length for every batch size; above batch {} it loses", lengths.back().from - 1)
                         : "one length for every batch size");
    } else if (lengths.size() == 1) {
        plan.draft_tokens = lengths.front().draft_tokens;
        plan.shape = sim::ChainShape{plan.draft_tokens};
    }
    return true;
}

/// Says when a length lies beyond the positions at which acceptance was measured.
void say_what_is_extrapolated(FlagPlan& plan, const sweeps::Candidate& candidate, const sweeps::Schedule& schedule) {
    int shortest = 0;
    for (const sweeps::ScheduleEntry& entry : schedule.entries) {
        const bool extrapolated = !plan.schedule.empty() && entry.basis == sim::AcceptanceBasis::extrapolated;
        if (extrapolated && (shortest == 0 || entry.draft_tokens < shortest)) {
            shortest = entry.draft_tokens;
        }
    }
    if (plan.schedule.empty() && candidate.basis == sim::AcceptanceBasis::extrapolated) {
        shortest = plan.draft_tokens;
    }
    if (shortest > 0) {
        remark(plan, fmt::format("acceptance of {} drafts was not measured but extrapolated", shortest));
    }
}

}  // namespace

int FlagPlan::longest() const {
    int most = schedule.empty() ? draft_tokens : 0;
    for (const PlannedLength& length : schedule) {
        most = std::max(most, length.draft_tokens);
    }
    return most;
}

std::vector<PlannedLength> lengths_of(const sweeps::Schedule& schedule) {
    std::vector<PlannedLength> lengths;
    for (const sweeps::ScheduleEntry& entry : schedule.entries) {
        if (!lengths.empty()) {
            lengths.back().to = entry.batch_from - 1;
        }
        if (!lengths.empty() && lengths.back().draft_tokens == entry.draft_tokens) {
            lengths.back().to = entry.batch_to;
        } else {
            lengths.push_back({lengths.empty() ? 1 : entry.batch_from, entry.batch_to, entry.draft_tokens});
        }
    }
    return lengths;
}

PlanResult plan_flags(const sweeps::Recommendation& recommendation, const Engine& engine) {
    const sim::Drafter& drafter = recommendation.variants[recommendation.candidates.front().variant].setup.drafter;
    const DrafterKind kind = kind_of(drafter);
    const EngineDrafter* known = engine.drafter(kind);
    if (known == nullptr) {
        return {{}, absence(engine, kind)};
    }
    const sweeps::Candidate* candidate = best_expressible(recommendation, engine, kind);
    if (candidate == nullptr) {
        const std::string cut =
            parallel_problem(engine, kind, recommendation.variants[recommendation.candidates.front().variant].setup.platform);
        return {{}, cut.empty() ? no_such_shape : cut};
    }
    const sim::Speculation& speculation = recommendation.speculations[static_cast<std::size_t>(candidate->speculation)];
    FlagPlan plan{&engine, *known, speculation.shape, candidate->draft_tokens, {}, {}};
    plan.platform = recommendation.variants[candidate->variant].setup.platform;
    if (!recommendation.settled.points.empty()) {
        plan.requests = sweeps::largest_batch_of(recommendation.settled);
    }
    if (has_groups(plan.platform)) {
        plan.drafter.scheduled = false;  // engines drop schedules by batch under attention data parallelism
    }
    if (sim::is_chain(speculation)) {
        plan.shape = sim::ChainShape{candidate->draft_tokens};
        if (!plan_lengths(plan, recommendation.chain_schedule)) {
            return {{}, "no chain of drafts pays at any batch size, and it supports none of the other requested shapes"};
        }
    } else {
        remark(plan, "one tree for every batch size");
    }
    say_what_is_extrapolated(plan, *candidate, recommendation.chain_schedule);
    if (kind_is_assumed(drafter)) {
        remark(plan, fmt::format("the input does not say which one-layer drafter it is; assumed {}", name_of(kind)));
    }
    if (const sim::Interconnect* link = sim::link_of(plan.platform)) {
        if (const auto asked = link->own.asked_by.find(engine.word); asked != link->own.asked_by.end()) {
            remark(plan, "builds that have all-reduces of their own run them with " + asked->second);
        }
    }
    remark(plan, loss_of(recommendation, *candidate));
    return {std::move(plan), ""};
}

std::string joined_remarks(const std::vector<std::string>& remarks) { return fmt::format("{}", fmt::join(remarks, "; ")); }

}  // namespace treeline::engines
