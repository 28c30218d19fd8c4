// The page that answers while its form changes: the library itself, compiled to WebAssembly, is inside (wasm/).
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace treeline::reports {

/// Whether this program was built with the page: that takes the compiled module (wasm/README.md).
bool has_live_page();

/// The page, which opens with what `start` holds: {"title", "question" (a workload), "answer" (that of the question
/// "explore", treeline/questions.h), "catalogue" (lists for the form), "version"}. Needs has_live_page().
std::string render_live_page(const nlohmann::json& start);

/// A report with the whole live page inside, which its reader starts there. The report's content security policy lets the live
/// page's script and its worker run, and nothing else.
std::string with_live_page(const std::string& report, const std::string& live_page);

}  // namespace treeline::reports
