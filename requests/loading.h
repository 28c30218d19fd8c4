// Which checkpoints engines load, and on which devices.
#pragma once

#include <string>

#include "sim/platform.h"
#include "sweeps/choices.h"

namespace treeline::requests {

/// Why the engine of a platform cannot load the target in its formats there, as the end of a sentence about the target; empty
/// where it can, or where no engine was asked for.
std::string why_not_loaded(const sweeps::TargetChoice& target, const sim::Platform& platform);

}  // namespace treeline::requests
