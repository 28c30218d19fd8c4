// The file of SGLang's --speculative-adaptive-config.
#pragma once

#include "engines/lint_input.h"

namespace treeline::engines::sglang {

/// Whether a key of the adaptive configuration is a slot: a batch size.
inline bool is_slot(const std::string& key) { return !key.empty() && key.find_first_not_of("0123456789") == std::string::npos; }

/// Whether an object is such a file.
bool is_slots(const nlohmann::ordered_json& tree);

void check_slots(const nlohmann::ordered_json& slots, const std::vector<std::string>& repeated, const Engine& engine,
                 Findings& findings);

/// Every candidate of every slot.
std::vector<long long> candidates_of(const nlohmann::ordered_json& slots);

}  // namespace treeline::engines::sglang
