// Which load an input states: a batch, a concurrency or an arrival rate, in keys of these names.
#pragma once

#include <string_view>

#include "json/reader.h"
#include "sweeps/load.h"

namespace treeline::requests {

/// In place of a rate of arrivals: asks for the largest one within the limits.
inline constexpr std::string_view most_word = "most";

/// Whether the object asks so.
bool asks_for_most(const json::Reader& at);

/// The kind that is stated; a batch if none is. Several are a problem, and so is another one than a batch where the steady
/// state's answers have no length (`steady` is false).
sweeps::LoadKind load_kind_of(json::Reader& at, bool steady);

}  // namespace treeline::requests
