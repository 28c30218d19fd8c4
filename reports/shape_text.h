// How shapes of drafts and accept lengths read in tables and sentences.
#pragma once

#include <string>
#include <vector>

#include "sim/round.h"

namespace treeline {

/// "off", "4" for a chain of 4, "12 (optimal 12,4, packed)" for a tree.
std::string drafted_text(const std::vector<Speculation>& speculations, int speculation, int draft_tokens);

/// What an accept length rests on, if that needs saying: " (extrapolated)", " (upper bound)", or nothing.
std::string basis_text(AcceptanceBasis basis);
/// The same in a word: "stated", "extrapolated", "upper bound".

}  // namespace treeline
