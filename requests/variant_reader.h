// Lists of an input whose elements are combined.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "requests/setup_reader.h"
#include "sweeps/variants.h"

namespace treeline::requests {

/// Reads the list of policies under `key`: "auto" (also without the key) is the empty list.
std::vector<sim::Rollback> read_rollbacks(json::Reader& at, std::string_view key);

/// Notes drafters, targets or platforms that share a label: results could not tell them apart.
void check_labels(json::Reader& at, std::string_view key, const std::vector<std::string>& labels);

}  // namespace treeline::requests
