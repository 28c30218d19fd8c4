// Draft shapes and accept lengths as tables and sentences show them.
#pragma once

#include <string>
#include <vector>

#include "sim/round.h"
#include "sweeps/choices.h"

namespace treeline::reports {

/// "off", "4" for a chain of 4, "12 (optimal 12,4, packed)" for a tree.
std::string drafted_text(const std::vector<sim::Speculation>& speculations, int speculation, int draft_tokens);

/// The basis of an accept length, if that needs saying: " (extrapolated)", " (upper bound)", or nothing.
std::string basis_text(sim::AcceptanceBasis basis);

/// "pays above 1.40"; a round of so many drafts cannot yield more than one token beside them: "never pays with 3 drafts".
std::string pays_text(double break_even_accept_length, double draft_tokens);

/// Where its acceptance comes from, in at most two lines: "as you stated it", or the beginning of what its file says.
std::string source_in_short(const sweeps::DrafterChoice& drafter);

/// What its measurements lack for this traffic, a sentence each: "Acceptance was not measured for poetry; ...".
std::vector<std::string> remarks_on_acceptance(const sweeps::DrafterChoice& drafter, double context);

}  // namespace treeline::reports
