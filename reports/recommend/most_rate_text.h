// The answer to the question of the largest rate of arrivals within the limits, in words and as JSON.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "sweeps/recommend_answer.h"

namespace treeline::reports {

/// " within 25 ms per token and 1 s to the first token"; empty without limits on times.
std::string within_text(const sweeps::Limits& limits);

/// Its first sentence, but for the full stop. `run` is how it begins: "Run qwen3-32b on h100-sxm with eagle3 drafting 3
/// tokens".
std::string most_rate_sentence(const sweeps::Answer& answer, const std::string& run);

/// What keeps the rate from being larger, as a note.
std::string most_rate_note(const sweeps::Recommendation& found);

/// Null where it was not asked for.
nlohmann::ordered_json most_rate_json(const sweeps::Recommendation& found);

}  // namespace treeline::reports
