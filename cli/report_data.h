// The data of the HTML report (reports/page/README.md lists its members).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "cli/recommendation.h"

namespace treeline {

nlohmann::json report_data(const Answer& answer);

}  // namespace treeline
