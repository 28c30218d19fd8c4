// The sources of an answer's numbers, as text and JSON.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "text/provenance.h"

namespace treeline::reports {

/// "5 numbers: 3 datasheet, 2 assumed".
std::string provenance_summary(const std::vector<text::Provenance>& provenance);
/// Each value with its kind and source, one per line.
std::string provenance_table(const std::vector<text::Provenance>& provenance);
nlohmann::ordered_json provenance_json(const std::vector<text::Provenance>& provenance);

}  // namespace treeline::reports
