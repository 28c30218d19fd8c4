// Which numbers of a stack of one's own have a say in what is priced?
#pragma once

#include <string>
#include <vector>

#include "sim/round_types.h"

namespace treeline::sim {

/// Those of Stack::own_numbers whose value moves no estimate of this setup, at any of its speculations, at small and large
/// batches and short and long contexts, with prompts between the tokens: a time for trees where chains are drafted, a number
/// that another cost mode takes. Those whose conditions are not met (Stack::unmet) are not among them. Precondition: the setup
/// has no problems.
std::vector<std::string> numbers_without_effect(const RoundSetup& setup);

}  // namespace treeline::sim
