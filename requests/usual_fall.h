// How the rates of a drafter's further drafts fall, where one rate or one mean length is all that is known.
#pragma once

#include "requests/descriptions.h"
#include "requests/published_acceptance.h"
#include "sim/drafters/drafter.h"

namespace treeline::requests {

/// Of look-ups not at all. Of modules for MTP, which come with a checkpoint, as those of other models of the same publisher
/// that were measured from at most 3 to at least 5 drafts: the mean of n of them, shrunk by n/(n + 1) towards that of all
/// drafters. Else as measured curves do (sim::measured_fall). `target` may be null.
double usual_fall_of(const sim::Drafter& drafter, const sim::Model* target, Descriptions& descriptions);

/// That of a drafter's own curves with the least error of accept lengths, given the shortest and given a middle one; nothing
/// where none reaches from at most 3 to at least 5 drafts.
std::optional<double> measured_fall_of(const PublishedDrafter& drafter);

}  // namespace treeline::requests
