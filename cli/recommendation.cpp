#include "cli/recommendation.h"

#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/number_text.h"

namespace treeline {
namespace {

const DrafterChoice* drafter_of(const Answer& answer, const Variant& variant) {
    for (const DrafterChoice& drafter : answer.input.drafters) {
        if (drafter.label == variant.labels.drafter) {
            return &drafter;
        }
    }
    return nullptr;
}

std::string switch_off_text(const Schedule& schedule) {
    if (schedule.switch_off_batch) {
        return *schedule.switch_off_batch <= 1
                   ? ""
                   : fmt::format("; switch speculation off from batch {}", *schedule.switch_off_batch);
    }
    return fmt::format("; it pays at every batch up to {}{}", schedule.largest_batch,
                       schedule.ends_with_memory ? ", the largest that fits" : "");
}

}  // namespace

Answer answer(WorkloadInput input, unsigned threads) {
    Answer result;
    result.result = recommend(input.workload, threads);
    if (const auto& found = result.result.recommendation; found && found->speculate) {
        const Candidate& best = found->candidates.front();
        result.interval = speedup_interval(found->variants[best.variant].setup, best.draft_tokens, input.workload.traffic);
    }
    result.input = std::move(input);
    return result;
}

const Variant& recommended_variant(const Answer& answer) {
    const Recommendation& found = *answer.result.recommendation;
    return found.variants[found.candidates.front().variant];
}

TrafficPoint most_common(const Workload& workload) {
    return *std::max_element(workload.traffic.begin(), workload.traffic.end(),
                             [](const TrafficPoint& a, const TrafficPoint& b) { return a.share < b.share; });
}

std::string draft_tokens_text(int draft_tokens) { return draft_tokens == 0 ? "off" : std::to_string(draft_tokens); }

std::string sentence_of(const Answer& answer) {
    if (!answer.result.recommendation) {
        return fmt::format("No configuration for {} keeps the limits.", answer.input.target.label);
    }
    const Recommendation& found = *answer.result.recommendation;
    const Candidate& best = found.candidates.front();
    const Variant& variant = recommended_variant(answer);
    const std::string rates = fmt::format("{} a token and {} tokens/s for each device", text_of(best.time_per_token),
                                          short_text(best.tokens_per_second_device));
    if (!found.speculate) {
        return fmt::format("Do not speculate: plain decoding of {} on {} does best over this traffic, with {}.",
                           answer.input.target.label, label_of(variant.setup.platform), rates);
    }
    const std::string rolled_back =
        variant.setup.rollback == Rollback::truncate ? "" : fmt::format(" and {} as rollback", variant.labels.rollback);
    const std::string interval = answer.interval
                                     ? fmt::format(" (between {} and {} with the uncertain inputs)",
                                                   ratio_text(answer.interval->low), ratio_text(answer.interval->high))
                                     : "";
    return fmt::format("Run {} on {} with {} drafting {} token{}{}: {} the speed of plain decoding over this traffic{}, {}{}.",
                       answer.input.target.label, label_of(variant.setup.platform), variant.labels.drafter, best.draft_tokens,
                       best.draft_tokens == 1 ? "" : "s", rolled_back, ratio_text(best.speedup), interval, rates,
                       switch_off_text(found.schedule));
}

std::vector<std::pair<std::string, std::string>> configuration_of(const Answer& answer) {
    const Recommendation& found = *answer.result.recommendation;
    const Candidate& best = found.candidates.front();
    const Variant& variant = recommended_variant(answer);
    std::vector<std::pair<std::string, std::string>> facts = {{"Target", answer.input.target.label},
                                                              {"Precision", text_of(variant.setup.precision)},
                                                              {"Platform", label_of(variant.setup.platform)},
                                                              {"Cost mode", variant.labels.mode}};
    if (found.speculate) {
        facts.emplace_back("Drafter", variant.labels.drafter);
        facts.emplace_back("Draft tokens", std::to_string(best.draft_tokens));
        facts.emplace_back("Rollback", variant.labels.rollback);
        if (const DrafterChoice* drafter = drafter_of(answer, variant)) {
            facts.emplace_back("Acceptance", drafter->acceptance_text);
            if (!drafter->acceptance_source.empty()) {
                facts.emplace_back("Acceptance from", drafter->acceptance_source);
            }
        }
    }
    facts.emplace_back("Decoding", std::string(name_of(variant.setup.decoding)));
    facts.emplace_back("Objective", std::string(name_of(answer.input.workload.objective)));
    return facts;
}

}  // namespace treeline
