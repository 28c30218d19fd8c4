// The small table of a first screen: servers side by side, a row each, a column for each figure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/units.h"

namespace treeline::reports {

/// What one server yields under the load. What is not known of any row has no column.
struct ServerRow {
    std::string name;
    double tokens_per_second_device = 0.0;
    std::optional<Seconds> time_per_token;  ///< nothing where answers have one token
    std::optional<Seconds> first_token;     ///< nothing where requests wait ever longer
    std::optional<double> waiting;          ///< requests
    std::optional<double> largest_batch;    ///< that memory holds
    std::optional<Joules> energy_per_token;
    std::optional<Dollars> price_per_token;
    std::optional<double> requests_per_second = std::nullopt;  ///< that arrive, where the largest rate is asked for
};

std::string small_table(const std::vector<ServerRow>& rows);

}  // namespace treeline::reports
