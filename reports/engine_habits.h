// What an engine does by itself in a round, why, and with which flag it does otherwise.
#pragma once

#include <string>

#include "sim/round.h"

namespace treeline::reports {

/// That another version than the one asked for was priced, as a sentence; empty where it was not.
std::string version_note(const sim::Stack& stack);

/// A table of habits; what the stack says nothing of is left out.
std::string engine_habits_text(const sim::RoundSetup& setup);

}  // namespace treeline::reports
