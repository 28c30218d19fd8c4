#include "runs/formats/html_rows.h"

#include <algorithm>
#include <array>
#include <utility>

namespace treeline::runs::run_formats_of {
namespace {

/// "td" of "<td>", "</td" and "<td align=left": the name of a tag.
std::string_view name_of_tag(std::string_view tag) {
    tag.remove_prefix(std::min(tag.find_first_not_of("</"), tag.size()));
    return tag.substr(0, tag.find_first_of(" \t>/"));
}

bool begins_cell(std::string_view tag) {
    return !tag.starts_with("</") && (name_of_tag(tag) == "td" || name_of_tag(tag) == "th");
}

/// "<thead>", "</tbody> <tbody>": a line of tags around the rows of a table, and of nothing else.
bool only_frames_rows(std::string_view line) {
    constexpr std::array<std::string_view, 6> frames = {"table", "thead", "tbody", "tfoot", "colgroup", "col"};
    bool any = false;
    for (std::size_t at = line.find_first_not_of(" \t"); at != std::string_view::npos; at = line.find_first_not_of(" \t", at)) {
        const std::size_t closes = line[at] == '<' ? line.find('>', at) : std::string_view::npos;
        const bool frame = closes != std::string_view::npos &&
                           std::find(frames.begin(), frames.end(), name_of_tag(line.substr(at, closes - at))) != frames.end();
        if (!frame) {
            return false;
        }
        any = true;
        at = closes + 1;
    }
    return any;
}

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
        text += begins_cell(tag) ? "|" : "";
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
    if (!open_ && only_frames_rows(line)) {
        return std::nullopt;
    }
    if (!open_ && !is_row) {
        return std::string(line);
    }
    row_ = open_ ? row_ : "";
    row_ += open_ ? line : line.substr(begin);
    open_ = row_.find("</tr>") == std::string::npos && row_.size() < longest;
    return open_ ? std::nullopt : std::optional(cells_between_bars_of(std::exchange(row_, {})));
}

}  // namespace treeline::runs::run_formats_of
