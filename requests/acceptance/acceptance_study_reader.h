// The input of `treeline study acceptance`, from file and flags.
#pragma once

#include <string>
#include <vector>

#include "json/reader.h"
#include "requests/descriptions.h"
#include "requests/flag_values.h"
#include "sweeps/acceptance_study.h"

namespace treeline::requests {

/// Reads the keys of requests/keys/acceptance_study_keys.h. Throws InputError with every problem.
sweeps::AcceptanceStudy read_acceptance_study(json::Document& document, Descriptions& descriptions);

/// The flags of the study, each with the key that it sets. "shapes" repeats: its texts are the second argument of with_flags.
const std::vector<KeyFlag>& acceptance_study_flags();

/// `study` with the keys that flags give replaced. Throws InputError for texts that are no numbers; reading judges the values.
FlagJson with_flags(FlagJson study, const FlagTexts& flags, const std::vector<std::string>& shapes);

}  // namespace treeline::requests
