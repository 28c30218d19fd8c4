#include "runs/formats/html_rows.h"

#include <algorithm>
#include <utility>

namespace treeline::runs::run_formats_of {
namespace {

/// What stands between tags, each cell behind a bar; other tags are left out.
std::string cells_between_bars_of(std::string_view row) {
    std::string text;
    while (!row.empty()) {
        const std::size_t opens = std::min(row.find('<'), row.size());
        text += row.substr(0, opens);
        row.remove_prefix(opens);
        const std::size_t closes = row.find('>');
        if (closes == std::string_view::npos) {
            break;
        }
        const std::string_view tag = row.substr(0, closes);
        text += tag.starts_with("<td") || tag.starts_with("<th") ? "|" : "";
        row.remove_prefix(closes + 1);
    }
    return text + "|";
}

}  // namespace

std::optional<std::string> HtmlRows::take(std::string_view line) {
    constexpr std::size_t longest = 1u << 16;
    const std::size_t begin = line.find("<tr");
    const bool is_row =
        begin != std::string_view::npos && begin + 3 < line.size() && (line[begin + 3] == '>' || line[begin + 3] == ' ');
    if (!open_ && !is_row) {
        return std::string(line);
    }
    row_ = open_ ? row_ : "";
    row_ += open_ ? line : line.substr(begin);
    open_ = row_.find("</tr>") == std::string::npos && row_.size() < longest;
    return open_ ? std::nullopt : std::optional(cells_between_bars_of(std::exchange(row_, {})));
}

}  // namespace treeline::runs::run_formats_of
