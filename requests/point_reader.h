// One design point, as `treeline estimate` takes it: from a file, from flags, or from a file with flags that override its keys.
#pragma once

#include <string>
#include <vector>

#include "requests/flag_values.h"
#include "requests/setup_reader.h"
#include "requests/speculation_reader.h"
#include "sweeps/estimate.h"

namespace treeline::requests {

/// Reads the keys of requests/keys/point_keys.h. Throws InputError with every problem, those of the setup included.
sweeps::PointInput read_point(json::Document& document, Descriptions& descriptions);

/// The flags of `treeline estimate`, each with the key of the point that it sets.
const std::vector<KeyFlag>& point_flags();

/// `point` with the keys that flags override. Values are passed on unchanged; reading the point judges them.
FlagJson with_flags(FlagJson point, const FlagTexts& flags);

}  // namespace treeline::requests
