// The plain decoding that what drafts is compared with.
#include <algorithm>
#include <cmath>

#include "sweeps/most_rate.h"
#include "sweeps/recommend_inside.h"

namespace treeline::sweeps {
namespace {

/// Devices and stack, however a model is cut: what a recommendation and its plain decoding must share.
bool same_server(const Variant& a, const Variant& b) {
    const sim::Platform &x = a.setup.platform, &y = b.setup.platform;
    return a.origin.target == b.origin.target && x.device.name == y.device.name && x.devices() == y.devices() &&
           a.labels.stack == b.labels.stack && x.mode == y.mode && x.stack.serving.prefill == y.stack.serving.prefill &&
           x.stack.serving.step_tokens == y.stack.serving.step_tokens;
}

/// The traffic at which plain decoding is evaluated: the workload's, or that of the best candidate's rate.
Traffic compared_traffic(const Judged& all, const Workload& workload) {
    if (!workload.most_arrivals) {
        return workload.traffic;
    }
    double largest = 0.0;
    for (const VariantOutcome& outcome : all.outcomes) {
        for (const Candidate& candidate : outcome.candidates) {
            largest = std::max(largest, candidate.requests_per_second);
        }
    }
    return at_rate(workload, largest).traffic;
}

/// Plain decoding on the same cut of the devices; null where it cannot be priced.
const Candidate* plain_on_cut_of(const Judged& all, std::size_t variant) {
    for (std::size_t i = 0; i < all.variants.size(); ++i) {
        if (all.plain[i] && all.variants[i].origin.same_platform(all.variants[variant].origin)) {
            return &*all.plain[i];
        }
    }
    return nullptr;
}

/// 1 where either has none.
double ratio(Seconds own, Seconds other) {
    const bool known = own > Seconds(0.0) && other > Seconds(0.0) && std::isfinite(own.value()) && std::isfinite(other.value());
    return known ? own / other : 1.0;
}

}  // namespace

std::vector<std::optional<Candidate>> plain_candidates(const Judged& all, const Workload& workload) {
    const Traffic traffic = compared_traffic(all, workload);
    std::vector<std::optional<Candidate>> plain(all.variants.size());
    for (std::size_t i = 0; i < all.variants.size(); ++i) {
        if (!all.variants[i].plain() || !all.prepared[i].problem.empty()) {
            continue;
        }
        if (workload.most_arrivals && !all.outcomes[i].candidates.empty()) {
            plain[i] = all.outcomes[i].candidates.front();
            continue;
        }
        plain[i] =
            candidate_of(all.prepared[i], i, 0, outcomes_of(all.prepared[i].round, {0}, traffic, workload.objective).front(),
                         workload.objective);
        plain[i]->objective = workload.most_arrivals ? sim::unlimited : plain[i]->objective;
    }
    return plain;
}

const Candidate* plain_beside(const Judged& all, std::size_t variant) {
    const Candidate* best = nullptr;
    const auto rank = [&](const Candidate& plain) {
        return std::pair(all.outcomes[plain.variant].candidates.empty(), plain.objective);
    };
    for (std::size_t i = 0; i < all.variants.size(); ++i) {
        if (all.plain[i] && same_server(all.variants[i], all.variants[variant]) &&
            (best == nullptr || rank(*all.plain[i]) < rank(*best))) {
            best = &*all.plain[i];
        }
    }
    return best;
}

ComparedPlain compared_plain(const Judged& all, std::size_t variant) {
    return {plain_beside(all, variant), plain_on_cut_of(all, variant)};
}

PlainGrowth plain_growth_of(const Judged& all, std::size_t variant, const Workload& workload) {
    const auto [beside, own] = compared_plain(all, variant);
    if (beside == nullptr || own == nullptr || own == beside) {
        return {};
    }
    const Prepared &of_cut = all.prepared[own->variant], &compared = all.prepared[beside->variant];
    if (workload.traffic.kind == LoadKind::batch) {
        return {ratio(of_cut.time_to_first_token, compared.time_to_first_token)};
    }
    PlainGrowth growth{1.0, ratio(own->first_token, beside->first_token)};
    const std::vector<Seconds> on_cut = first_tokens_of(of_cut.round, 0, workload.traffic),
                               there = first_tokens_of(compared.round, 0, workload.traffic);
    std::transform(on_cut.begin(), on_cut.end(), there.begin(), std::back_inserter(growth.at_points), ratio);
    return growth;
}

void compare_with_plain(const ComparedPlain& plain, Outcome& outcome) {
    if (plain.beside == nullptr || plain.on_cut == nullptr) {
        return;
    }
    if (!plain.beside->overrun && outcome.problem.empty()) {
        outcome.gain = plain.beside->objective / outcome.objective;
        outcome.gain_of_capacity = false;
    } else if (!outcome.gain_of_capacity) {
        outcome.gain *= plain.beside->objective / plain.on_cut->objective;
    }
}

}  // namespace treeline::sweeps
