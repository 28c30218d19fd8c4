// The HTML report: one self-contained page that works offline.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace treeline::reports {

/// The whole page for the report data (format "treeline-report", version 1; reports/page/README.md lists its members). Needs
/// `title` (a string) and `summary.sentence`; a section whose member is absent is left out of the page. Any string is safe: it
/// is shown as text. Bytes that are not UTF-8 become U+FFFD, non-finite numbers are shown as missing. Throws
/// std::invalid_argument naming what is missing.
std::string render_html(const nlohmann::json& data);

}  // namespace treeline::reports
