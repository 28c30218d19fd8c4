// How values and keys of JSON look in messages.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "text/wording.h"

namespace treeline::json {

/// A value or key with control characters escaped and cut to about `longest` bytes; "an object" or "an array" for those.
std::string shown(const nlohmann::ordered_json& value, std::size_t longest = 60);
std::string shown_key(std::string_view key);

}  // namespace treeline::json
