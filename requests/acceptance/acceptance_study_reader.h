// The input of `treeline acceptance`, from file and flags.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "json/reader.h"
#include "requests/descriptions.h"
#include "sweeps/acceptance_study.h"

namespace treeline {

/// Reads {"shapes"?: trees as `treeline tree` takes them, "temperatures"?, "drafter_temperature"?, "world"?: {"vocabulary"?,
/// "sharpness"?, "mismatch"?, "caution"?, "worlds"?, "seed"?}, "rounds"?, "measured"?: {"shape"?, "method"?, "points":
/// [{"temperature", "accept_length" or "per_position"}]}, "title"?, "source"?}. Throws InputError with every problem.
AcceptanceStudy read_acceptance_study(json::Document& document, Descriptions& descriptions);

/// Flags of `treeline acceptance`, as texts; empty where not given.
struct AcceptanceStudyFlags {
    std::vector<std::string> shapes;
    std::string temperatures, drafter_temperature, vocabulary, sharpness, mismatch, caution, worlds, seed, rounds;
    std::string measured, measured_shape, measured_method;  ///< measured: "0:2.04,1:1.55"
};

/// `study` with the keys that flags give replaced. Throws InputError for texts that are no numbers; reading judges the values.
nlohmann::ordered_json with_flags(nlohmann::ordered_json study, const AcceptanceStudyFlags& flags);

/// Sentences of a document named "flags" with the flag in place of the key.
std::vector<std::string> in_terms_of_study_flags(std::vector<std::string> problems);

}  // namespace treeline
