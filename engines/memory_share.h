// A limit of memory that was priced, as the share of a device that a server is told to take.
#pragma once

#include <optional>

#include "sim/round.h"

namespace treeline::engines {

/// The share with which a server takes no more of a device than the limit that was priced, rounded down to three digits, as
/// what it takes grows linearly with its share; nothing where it takes less by itself.
std::optional<double> share_within_limit(const sim::RoundSetup& setup);

}  // namespace treeline::engines
