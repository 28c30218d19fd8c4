// The JSON schemas of answers: their keys at the top, which docs/stability.md promises.
#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace treeline::serve {

/// Of the question of this name. More keys may follow in later versions. Throws std::out_of_range of another name.
const nlohmann::ordered_json& answer_schema(std::string_view question);

}  // namespace treeline::serve
