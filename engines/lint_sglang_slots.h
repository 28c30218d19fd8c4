// The file of SGLang's --speculative-adaptive-config.
#pragma once

#include "engines/lint_input.h"

namespace treeline::engines {

void check_sglang_slots(const nlohmann::ordered_json& slots, const std::vector<std::string>& repeated, const Engine& engine,
                        Findings& findings);

/// Every candidate of every slot.
std::vector<long long> sglang_candidates(const nlohmann::ordered_json& slots);

}  // namespace treeline::engines
