// The code in what people paste: posts and issues set commands and files between fences or in spans of Markdown.
#pragma once

#include <string>

namespace treeline::engines {

/// What stands between the fences ("```") that hold flags or keys of speculation, or else start an engine; the whole text where
/// there are none, or where it is a script.
std::string fenced_code_of(const std::string& text);

/// The spans between single backticks that hold flags, a line each; empty where there are none.
std::string code_spans_of(const std::string& text);

}  // namespace treeline::engines
