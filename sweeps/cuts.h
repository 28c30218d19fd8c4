// Every way to share a model among a number of devices that serving engines offer.
#pragma once

#include <string>
#include <vector>

#include "sim/platform.h"

namespace treeline::sweeps {

/// The platform with each cut of `gpus` devices that divides the target's heads, experts and layers and whose link joins them,
/// the plainest first (tensor parallelism alone). What the stack's engine does not offer is left out: SGLang has no pipeline
/// under speculation, TensorRT-LLM runs attention data parallel on all ranks of a stage or on none. Experts are cut over all
/// ranks of a stage or dealt out over all. Memory is not looked at: what does not fit is for a search to say.
std::vector<sim::Platform> cuts_of(const sim::Platform& platform, double gpus, const sim::Model& target);

/// Why so many devices have no cut, as the end of a sentence.
std::string why_no_cut(const sim::Platform& platform, double gpus, const sim::Model& target);

}  // namespace treeline::sweeps
