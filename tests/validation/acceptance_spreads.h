// By how much acceptance differs between requests, targets and drafters: what AcceptanceOrigin's intervals are made of.
#pragma once

#include <string>
#include <vector>

#include "requests/published_acceptance.h"
#include "sim/acceptance_curves.h"

namespace treeline::testing {

/// A weighted list: each target has one vote.
struct Vote {
    std::string target;
    double value = 0.0;
};
/// The value below which this share of the votes lies.
double quantile_of(std::vector<Vote> votes, double share);

/// Differences of the log-odds of a draft's rate (from accept lengths at the same draft length, up to 8) between what one
/// measurement says and what another one is.
struct MeasuredSpread {
    sim::AcceptanceOrigin origin;
    std::vector<Vote> differences;
};
/// Of published drafters and of ../shared/data/acceptance/by_dataset_2026-11-25.json, which is `by_dataset`.
std::vector<MeasuredSpread> measured_spreads(const std::vector<requests::PublishedDrafter>& drafters,
                                             const std::string& by_dataset);

/// Whether a drafter of this name looks up.
bool looks_up(const std::string& kind);

}  // namespace treeline::testing
