#include "reports/recommend/recommendation_output.h"

#include <fmt/format.h>

#include "reports/objective_text.h"
#include "reports/report_data.h"
#include "reports/shape_text.h"
#include "text/precision_text.h"
#include "text/steady_text.h"

namespace treeline::reports {
namespace {

/// "packed", and for a chain what that means.
std::string verification_text(const sweeps::Recommendation& found, const sweeps::Candidate& candidate) {
    const sim::Speculation& speculation = found.speculations[static_cast<std::size_t>(candidate.speculation)];
    return sim::is_chain(speculation) && speculation.verification == sim::Verification::unrolled
               ? "one pass over the chain"
               : std::string(name_of(speculation.verification));
}

}  // namespace

std::string sentence_of(const sweeps::Answer& answer) {
    return answer.result.recommendation
               ? answer_sentence(answer.input.workload, *answer.result.recommendation)
               : fmt::format("No configuration for {} fits in memory and meets the limits.", answer.input.target.label);
}

std::vector<std::pair<std::string, std::string>> configuration_of(const sweeps::Answer& answer) {
    const sweeps::Recommendation& found = *answer.result.recommendation;
    const sweeps::Candidate& best = found.candidates.front();
    const sweeps::Variant& variant = sweeps::recommended_variant(answer);
    const bool accelerated = variant.setup.platform.accelerator.has_value();  // computes in formats of its own
    std::vector<std::pair<std::string, std::string>> facts = {
        {"Target", accelerated ? variant.labels.target : answer.input.target.label},
        {"Precision", accelerated ? variant.labels.precision : text::text_of(variant.setup.precision)},
        {"Platform", sweeps::label_of(variant.setup.platform)},
        {"Cost mode", variant.labels.mode}};
    if (found.speculate) {
        facts.emplace_back("Drafter", variant.labels.drafter);
        facts.emplace_back("Draft tokens", drafted_text(found.speculations, best.speculation, best.draft_tokens));
        facts.emplace_back("Verification", verification_text(found, best));
        facts.emplace_back("Rollback", variant.labels.rollback);
        if (const sweeps::DrafterChoice* drafter = sweeps::drafter_of(answer, variant)) {
            facts.emplace_back("Acceptance", drafter->acceptance_text);
            if (!drafter->acceptance_source.empty()) {
                facts.emplace_back("Acceptance from", drafter->acceptance_source);
            }
        }
    }
    facts.emplace_back("Decoding", std::string(name_of(variant.setup.decoding)));
    facts.emplace_back("Objective", goal_text(answer.input.workload.objective));
    if (sweeps::largest_batch_of(answer.input.workload.traffic) > 1.0) {
        facts.emplace_back("Prompts", text::steady_text(variant.setup));
    }
    facts.emplace_back("Shares of traffic", std::string("of ") + std::string(name_of(answer.input.workload.traffic.shares_of)));
    return facts;
}

}  // namespace treeline::reports
