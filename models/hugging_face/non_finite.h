// Python writes Infinity and NaN into config.json files, which JSON does not know. The keys that hold them (limits of time
// steps) cost nothing, so an import reads them as null.
#pragma once

#include <string>
#include <string_view>

namespace treeline::models::hugging_face {

/// True when the text is a config (it says "model_type" or "architectures") that holds such a number outside of strings.
bool has_non_finite_numbers(std::string_view text);

/// The text with each such number replaced by null.
std::string without_non_finite_numbers(std::string_view text);

}  // namespace treeline::models::hugging_face
