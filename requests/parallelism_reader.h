// How a platform's devices share the model: the degrees of parallelism, or "gpus" alone for every cut that engines offer.
#pragma once

#include <vector>

#include "json/reader.h"
#include "sim/platform.h"
#include "sweeps/design_space.h"

namespace treeline::requests {

/// The degrees of platform_keys (requests/keys/setup_keys.h); "gpus" must be the devices that they make, and alone is the
/// tensor parallelism.
void read_parallelism(json::Reader& at, sim::Platform& platform);

/// A platform of a search: with "gpus" and no more than some of the degrees, every cut that holds those and that the stack's
/// engine offers (cuts_of()); with {"up_to": N}, of 1 to N devices. Numbers of devices without a cut go to `excluded`, with the
/// reason; without a list for them they are a problem.
std::vector<sim::Platform> read_cuts(json::Reader& at, sim::Platform platform, const sim::Model& target,
                                     std::vector<sweeps::Exclusion>* excluded);

}  // namespace treeline::requests
