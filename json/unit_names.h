// The unit words that descriptions may use, and what they are in base units. Decimal and binary words differ: 1 GB = 1e9 bytes,
// 1 GiB = 2^30 bytes. Names are case-sensitive, as in SI.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace treeline::json {

struct UnitName {
    std::string_view name;
    std::string_view dimension;
    double in_base_units;  ///< bytes, FLOP, seconds, joules, dollars
};

struct DimensionLimits {
    std::string_view dimension;  ///< "bandwidth", as it stands in messages
    double low;                  ///< in base units; anything smaller (but zero, where that is allowed) is a slip of the pen
    double high;
};

/// The unit of that name, or null.
const UnitName* find_unit(std::string_view name);

/// All unit words of a dimension, smallest first.
std::vector<std::string> units_of(std::string_view dimension);

/// Limits of a dimension that the reader knows.
const DimensionLimits& limits_of(std::string_view dimension);

}  // namespace treeline::json
