// How a precision reads in tables and on pages.
#pragma once

#include <string>

#include "sim/device.h"
#include "sim/precision.h"

namespace treeline::text {

/// "weights fp8, embeddings bf16, …; products in fp8, of attention in bf16": what differs from the weights, and the formats in
/// which operations compute.
std::string text_of(const sim::Precision& precision);
/// The same on a device, with the formats that it has no units for: "…; fp4 computed in bf16, as h100-sxm has no units for it".
std::string text_of(const sim::Precision& precision, const sim::Device& device);

/// What files that are stored so are called: "q4_k_m", or the format of the weights.
std::string checkpoint_text(const sim::Precision& precision);

}  // namespace treeline::text
