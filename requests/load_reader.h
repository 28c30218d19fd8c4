// Which load an input states: a batch, a concurrency or an arrival rate, in keys of these names.
#pragma once

#include "json/reader.h"
#include "sweeps/load.h"

namespace treeline::requests {

/// The kind that is stated; a batch if none is. Several are a problem, and so is another one than a batch where the steady
/// state's answers have no length (`steady` is false).
sweeps::LoadKind load_kind_of(json::Reader& at, bool steady);

}  // namespace treeline::requests
