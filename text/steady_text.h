// Whether times include the prompts of other requests, in words.
#pragma once

#include <string>

#include "sim/round.h"

namespace treeline::text {

/// "answers of 256 tokens, each after a prompt of 1024 that others wait for", or that decoding alone is priced.
std::string steady_text(const sim::RoundSetup& setup);

}  // namespace treeline::text
