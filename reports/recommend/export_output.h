// `treeline recommend --export`.
#pragma once

#include <string>

#include "engines/export.h"
#include "sweeps/recommend_answer.h"

namespace treeline::reports {

/// The recommendation in the form of this name, with what it leaves out in a first line where the form has
/// comments (JSON has none; docs/loop.md says it). Throws InputError for an unknown name and where it cannot be written so.
std::string exported_text(const sweeps::Answer& answer, const std::string& form);

}  // namespace treeline::reports
