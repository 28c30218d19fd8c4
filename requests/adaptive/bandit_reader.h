// The input file of `treeline study bandit`.
#pragma once

#include <string>
#include <vector>

#include "json/reader.h"
#include "requests/descriptions.h"
#include "sweeps/adaptive/bandit_study.h"

namespace treeline::requests {

/// Reads bandit_keys (requests/keys/adaptive_keys.h). With a design_point, plain decoding is an arm only if draft_tokens has 0,
/// and draft_share is the first shape's drafting time per level over the time of a plain step. Throws InputError with every
/// problem.
sweeps::BanditInput read_bandit(json::Document& document, Descriptions& descriptions);

}  // namespace treeline::requests
