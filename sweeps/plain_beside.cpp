// The plain decoding that what drafts is compared with.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

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

/// OwnPlain::slower of plain decoding beside another; 0 where either is overrun.
double slower_than(const Judged& all, const Candidate& own, const Candidate& other) {
    if (other.first_token <= Seconds(0.0) || own.overrun || other.overrun) {
        return 0.0;
    }
    return (own.time_per_token - other.time_per_token) * all.prepared[own.variant].round.output_tokens / other.first_token;
}

/// Of the cuts of a variant's devices, the one on which fewest requests wait in plain decoding: they need not wait longer.
/// Where latency is asked for, of all devices. `own` where no fewer wait elsewhere.
std::size_t least_waiting(const Judged& all, std::size_t own, Objective objective) {
    std::size_t least = own;
    for (std::size_t i = 0; i < all.variants.size(); ++i) {
        const bool comparable = objective == Objective::latency || same_server(all.variants[i], all.variants[own]);
        if (comparable && !all.plain_waiting[i].empty() && all.plain_waiting[i].back() < all.plain_waiting[least].back()) {
            least = i;
        }
    }
    return least;
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

std::vector<double> plain_waiting_of(const Prepared& prepared, const Candidate& plain, const Traffic& traffic) {
    std::vector<double> shares;
    for (const TrafficPoint& point : traffic.points) {
        const SettledLoad load = settle(prepared.round, 0, traffic.kind, point);
        shares.push_back(waiting_share(load.batch, load.queued));
    }
    shares.push_back(waiting_share(plain.in_service, plain.queued));
    return shares;
}

OwnPlain waiting_beside(const Judged& all, std::size_t variant, const Workload& workload) {
    OwnPlain result;
    const Candidate* own = plain_on_cut_of(all, variant);
    if (own == nullptr || all.plain_waiting[own->variant].empty()) {
        return result;
    }
    const std::size_t least = least_waiting(all, own->variant, workload.objective);
    const std::vector<double>&here = all.plain_waiting[own->variant], &there = all.plain_waiting[least];
    std::transform(here.begin(), here.end(), there.begin(), std::back_inserter(result.waiting_at), std::minus<>());
    result.waiting = result.waiting_at.back();
    result.waiting_at.pop_back();
    if (workload.traffic.kind != LoadKind::batch) {
        result.first_token_there = ratio(own->first_token, all.plain[least]->first_token);
        result.slower_there = slower_than(all, *own, *all.plain[least]);
    }
    return result;
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

OwnPlain own_plain_of(const Judged& all, std::size_t variant, const Workload& workload) {
    const auto [beside, own] = compared_plain(all, variant);
    OwnPlain result = waiting_beside(all, variant, workload);
    if (beside == nullptr || own == nullptr || (own == beside && !beside->overrun)) {
        return result;
    }
    const Prepared &of_cut = all.prepared[own->variant], &compared = all.prepared[beside->variant];
    const Traffic& traffic = workload.traffic;
    if (traffic.kind == LoadKind::batch) {
        result.alone = ratio(of_cut.time_to_first_token, compared.time_to_first_token);
        return result;
    }
    // Nothing is slow beside a first token that never comes.
    result.mean = beside->overrun ? 0.0 : ratio(own->first_token, beside->first_token);
    result.slower = slower_than(all, *own, *beside);
    const std::vector<Seconds> on_cut = first_tokens_of(of_cut.round, 0, traffic),
                               there = first_tokens_of(compared.round, 0, traffic);
    for (std::size_t i = 0; i < traffic.points.size(); ++i) {
        const bool comes = !settle(compared.round, 0, traffic.kind, traffic.points[i]).waits_for_ever;
        result.at_points.push_back(comes ? ratio(on_cut[i], there[i]) : 0.0);
    }
    return result;
}

void compare_with_plain(const ComparedPlain& plain, Outcome& outcome) {
    if (plain.beside == nullptr || plain.on_cut == nullptr) {
        return;
    }
    if (plain.beside != plain.on_cut) {
        outcome.speedup = plain.beside->time_per_token / outcome.means.time_per_token;
    }
    if (!plain.beside->overrun && outcome.problem.empty()) {
        outcome.gain = plain.beside->objective / outcome.objective;
        outcome.gain_of_capacity = false;
    } else if (!outcome.gain_of_capacity) {
        outcome.gain *= plain.beside->objective / plain.on_cut->objective;
    }
}

}  // namespace treeline::sweeps
