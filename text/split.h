// Short forms that hold several values in one text: "0,0.7,1".
#pragma once

#include <string>
#include <vector>

namespace treeline::text {

/// The parts between separators, empty ones included; a text without separators is one part.
std::vector<std::string> split(const std::string& text, char separator);

}  // namespace treeline::text
