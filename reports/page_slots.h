// Pages that reports/page/build.mjs makes, with the slots that a program fills.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace treeline::reports {

/// JSON that cannot leave the <script> element that holds it.
std::string escaped_json(const nlohmann::json& data);

/// `page` with its title and data. Any string of the data is safe: it is shown as text. Bytes that are not UTF-8 become
/// U+FFFD, non-finite numbers are shown as missing.
std::string with_data(std::string_view page, const nlohmann::json& title, const nlohmann::json& data);

}  // namespace treeline::reports
