// How short the accept length of a recommendation may be before another variant is the better choice.
#include <algorithm>
#include <cmath>

#include "sweeps/recommend_inside.h"

namespace treeline::sweeps {
namespace {

/// One of two candidates, and its figure in the objective were its accept length another one.
struct Rival {
    const Candidate& candidate;
    const Prepared& prepared;

    [[nodiscard]] double objective_at(double accept_length, const Workload& workload) const {
        if (workload.traffic.kind == LoadKind::arrival_rate) {
            const Outcome outcome =
                outcome_with_length(prepared.round, candidate.plan, workload.traffic, workload.objective, accept_length);
            return outcome.problem.empty() ? outcome.objective : sim::unlimited;
        }
        const double share = decode_share_of(candidate, workload.objective);
        return candidate.objective * (1.0 - share + share * candidate.accept_length / accept_length);
    }
};

/// Where two candidates draft with the same drafter, the accept length of one decides that of the other: what either accepts
/// beyond the token that a round always yields shrinks by the same share. Nothing if the rival is the better one nowhere.
std::optional<double> crossing(const Rival& best, const Rival& rival, const Workload& workload) {
    constexpr int steps = 30;
    const double share = (rival.candidate.accept_length - 1.0) / (best.candidate.accept_length - 1.0);
    const auto rival_wins = [&](double length) {
        return rival.objective_at(1.0 + share * (length - 1.0), workload) < best.objective_at(length, workload);
    };
    double below = 1.0, above = best.candidate.accept_length;
    if (!rival_wins(below)) {
        return std::nullopt;
    }
    for (int i = 0; i < steps; ++i) {
        const double middle = 0.5 * (below + above);
        (rival_wins(middle) ? below : above) = middle;
    }
    return above;
}

}  // namespace

std::optional<FlipLength> flip_length_of(const Recommendation& found, const std::vector<Prepared>& prepared,
                                         const Workload& workload) {
    const Candidate& best = found.candidates.front();
    const std::optional<std::size_t> drafter = found.variants[best.variant].origin.drafter;
    const bool under_arrivals = workload.traffic.kind == LoadKind::arrival_rate && !best.gain_of_capacity;
    std::optional<FlipLength> longest;
    const auto consider = [&](double accept_length, const Candidate& rival) {
        if (accept_length > 1.0 && (!longest || accept_length > longest->accept_length)) {
            longest = FlipLength{accept_length, rival.variant};
        }
    };
    bool compared_with_another = false;
    for (const Candidate& rival : found.runners_up) {
        const Prepared &of_best = prepared[best.variant], &of_rival = prepared[rival.variant];
        if (rival.draft_tokens > 0 && found.variants[rival.variant].origin.drafter == drafter) {
            if (const auto length = crossing({best, of_best}, {rival, of_rival}, workload)) {
                consider(*length, rival);
            }
        } else if (!compared_with_another) {  // figures of other drafters stay: the best of them is reached first
            compared_with_another = true;
            consider(under_arrivals ? accept_length_under_arrivals(of_best.round, best.plan, workload.traffic,
                                                                   workload.objective, rival.objective)
                                    : accept_length_at(best, rival.objective / best.objective, workload.objective),
                     rival);
        }
    }
    return longest;
}

}  // namespace treeline::sweeps
