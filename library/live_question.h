// Whether a question can be asked on a live page.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace treeline {

/// Throws InputError, in a sentence that begins with `asked_by` ("explore"), where the question is about several platforms, or
/// names a file, which no page can read.
void require_live_question(const std::string& asked_by, const nlohmann::ordered_json& question);
/// Throws InputError where the program was built without the live page.
void require_live_page();

}  // namespace treeline
