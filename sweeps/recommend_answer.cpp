#include "sweeps/recommend_answer.h"

#include <utility>

#include "sweeps/most_rate.h"

namespace treeline::sweeps {
namespace {

constexpr double unreachable_gain = 1e9;  // with which nothing that drafts is recommended

Answer answered(RecommendInput input, unsigned threads) {
    Answer result;
    result.result = recommend(input.workload, threads);
    if (const auto& found = result.result.recommendation) {
        input.workload.traffic = found->traffic;
        input.workload.objective = found->objective;
        input.workload.limits = found->limits;
    }
    if (const auto& found = result.result.recommendation; found && found->most_rate) {
        if (auto trust = found->speculate ? trust_of_most_rate(*found, input.workload, input.errors) : std::nullopt) {
            result.interval = std::move(trust->interval);
            result.trust = std::move(trust->trust);
        } else if (!found->speculate) {
            result.rejected = rejected_at_most_rate(*found);
        }
    } else if (found && found->speculate) {
        const Candidate& best = found->candidates.front();
        result.interval =
            gain_interval(found->variants[best.variant].setup, best.plan, input.workload.traffic, input.workload.objective);
        if (!best.gain_of_capacity) {
            result.interval = over_plain_of_another_cut(std::move(*result.interval), best.gain);
        }
        result.trust = trust_of(*found, input.workload, *result.interval, input.errors);
    } else if (found) {
        result.rejected = rejected_drafting(*found, input.workload, input.errors);
    }
    if (const auto& found = result.result.recommendation; found && !found->speculate) {
        const sim::RoundSetup& setup = found->variants[found->candidates.front().variant].setup;
        result.plain_time = measured_time(setup, found->settled, input.errors);
    }
    result.input = std::move(input);
    return result;
}

/// Whether plain decoding is the likelier winner: measured speed-ups lie below predictions more often than above.
bool loses_more_often(const Answer& answer) {
    constexpr double even = 0.5;
    const std::optional<Recommendation>& found = answer.result.recommendation;
    return answer.trust && answer.trust->chances && answer.trust->chances->pays < even && !found->most_rate &&
           !found->saturation && !found->candidates.front().gain_of_capacity;
}

}  // namespace

Answer answer(RecommendInput input, unsigned threads) {
    RecommendInput plain = input;
    Answer drafting = answered(std::move(input), threads);
    if (!loses_more_often(drafting)) {
        return drafting;
    }
    const double asked = plain.workload.limits.minimum_gain;
    plain.workload.limits.minimum_gain = unreachable_gain;
    Answer without = answered(std::move(plain), threads);
    if (!without.result.recommendation) {
        return drafting;
    }
    without.input.workload.limits.minimum_gain = asked;
    without.result.recommendation->limits.minimum_gain = asked;
    without.result.recommendation->excluded = without.result.excluded = drafting.result.excluded;
    return without;
}

const DrafterChoice* drafter_of(const Answer& answer, const Variant& variant) {
    return variant.origin.drafter ? &answer.input.drafters[*variant.origin.drafter] : nullptr;
}

const Variant& recommended_variant(const Answer& answer) {
    const Recommendation& found = *answer.result.recommendation;
    return found.variants[found.candidates.front().variant];
}

std::string why_not_planned(const Answer& answer) {
    const auto& found = answer.result.recommendation;
    if (!found) {
        return "no configuration meets the limits, so there is nothing to measure; treeline recommend says why";
    }
    if (found->candidates.front().speculation == 0) {
        return "plain decoding is recommended, and runs are planned for a configuration that drafts";
    }
    if (recommended_variant(answer).setup.platform.accelerator) {
        return "an accelerator is recommended, and runs are planned for engines on GPUs and CPUs";
    }
    return "";
}

}  // namespace treeline::sweeps
