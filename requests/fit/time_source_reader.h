// The time of a pass by its tokens, from the sources an input may name.
#pragma once

#include <filesystem>

#include "calibrate/timings/time_source.h"
#include "json/reader.h"

namespace treeline::requests {

/// Reads time_keys (requests/keys/break_even_keys.h): a stated law, one of an earlier `treeline study fit`, or measured times,
/// fitted here or interpolated. Files are relative to `folder`. Notes problems in the reader's document and returns a harmless
/// source then.
calibrate::TimeSource read_time_source(json::Reader at, const std::filesystem::path& folder);

}  // namespace treeline::requests
