// The file of SGLang's --speculative-dspark-sps-table-path: what a step costs, in one of two forms.
#pragma once

#include "engines/lint_input.h"

namespace treeline::engines::sglang {

inline constexpr const char* costs_flag = "--speculative-dspark-sps-table-path";

/// Whether an object is such a file; "bias_seconds" tells the second form from the first.
bool is_costs(const nlohmann::ordered_json& tree);

/// Rules of SGLang's dspark_sps.py (source: engines/sglang/records.cpp).
void check_costs(const nlohmann::ordered_json& costs, const std::vector<std::string>& repeated, Findings& findings);

}  // namespace treeline::engines::sglang
