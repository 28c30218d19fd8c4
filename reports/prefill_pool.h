// How large the pool of devices must be that reads the prompts of a disaggregated deployment (docs/cost-model.md, section 3.5).
#pragma once

#include <string>

#include "sim/stack.h"

namespace treeline::reports {

/// Whether prompts are read by devices of their own in this steady state.
bool has_prefill_pool(const sim::Stack& stack, double output_tokens);

/// Devices that read prompts for each that decodes, from the share of the time of all of them that goes into decoding (above 0,
/// at most 1).
double prefill_pool(double decode_share);

/// "4 devices that decode need 5.61 that read their prompts: …", and which of the two is the bottleneck.
std::string prefill_pool_sentence(double decode_share, double devices);

}  // namespace treeline::reports
