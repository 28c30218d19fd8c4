// What would be measured on a device, as table, JSON and CSV.
#pragma once

#include <string>
#include <vector>

#include "calibrate/tables/case_list.h"

namespace treeline::reports {

std::string case_list_table(const std::vector<calibrate::ListedCase>& cases, const sim::Device& device);
std::string case_list_json(const std::vector<calibrate::ListedCase>& cases, const sim::Device& device);
std::string case_list_csv(const std::vector<calibrate::ListedCase>& cases);

}  // namespace treeline::reports
