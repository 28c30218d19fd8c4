// The input file of `treeline study break-even`.
#pragma once

#include <filesystem>

#include "json/reader.h"
#include "requests/descriptions.h"
#include "sweeps/break_even_study.h"

namespace treeline::requests {

/// Reads the keys of requests/keys/break_even_keys.h; the files it names lie in `folder`. Throws InputError with every problem.
sweeps::BreakEvenInput read_break_even(json::Document& document, Descriptions& descriptions,
                                       const std::filesystem::path& folder);

}  // namespace treeline::requests
