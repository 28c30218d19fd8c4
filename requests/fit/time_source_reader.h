// The time of a pass by its tokens, from the sources an input may name.
#pragma once

#include <filesystem>

#include "calibrate/timings/time_source.h"
#include "json/reader.h"

namespace treeline {

/// {"law": "linear", "coefficients": [10, 0.05], "unit": "ms", "source": ..., "kind": ...}: in that unit, per token and per
///     token² in the order of formula_of(form)
/// {"fit": "fit.json", "series"?: name}: a law of an earlier `treeline fit --format json`
/// {"measured": "times.csv", "series"?: name, "as"?: "auto", "table", or the name of a law}: fitted here ("auto", also without
///     the key: the law that cross-validation selects), or interpolated
/// Files are relative to `folder`. Notes problems in the reader's document and returns a harmless source then.
TimeSource read_time_source(json::Reader at, const std::filesystem::path& folder);

}  // namespace treeline
