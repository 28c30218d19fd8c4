// A configuration to check, as a question in JSON.
#pragma once

#include <string>

#include "json/reader.h"

namespace treeline::requests {

struct LintRequest {
    std::string text;
    std::string engine;  ///< "vllm@0.19"; empty: by content
};

/// {"text", "engine"}. Throws InputError.
LintRequest read_lint(json::Document& document);

}  // namespace treeline::requests
