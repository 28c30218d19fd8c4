// How a precision reads in tables and on pages.
#pragma once

#include <string>

#include "sim/precision.h"

namespace treeline::text {

/// "weights fp8, embeddings bf16, …; products in fp8, of attention in bf16": what differs from the weights, and the formats in
/// which operations compute.
std::string text_of(const sim::Precision& precision);

}  // namespace treeline::text
