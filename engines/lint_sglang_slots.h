// The file of SGLang's --speculative-adaptive-config.
#pragma once

#include "engines/lint_input.h"

namespace treeline::engines {

/// Whether a key of the adaptive configuration is a slot: a batch size.
inline bool is_slot(const std::string& key) { return !key.empty() && key.find_first_not_of("0123456789") == std::string::npos; }

void check_sglang_slots(const nlohmann::ordered_json& slots, const std::vector<std::string>& repeated, const Engine& engine,
                        Findings& findings);

/// Every candidate of every slot.
std::vector<long long> sglang_candidates(const nlohmann::ordered_json& slots);

}  // namespace treeline::engines
