// The input file of `treeline study traffic`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "json/reader.h"
#include "requests/descriptions.h"
#include "sweeps/adaptive/traffic_study.h"

namespace treeline::requests {

/// Reads requests_keys (requests/keys/adaptive_keys.h). With a design_point, plain decoding is a setting in any case. Throws
/// InputError with every problem.
sweeps::TrafficInput read_traffic(json::Document& document, Descriptions& descriptions);

}  // namespace treeline::requests
