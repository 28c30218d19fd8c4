// Internal to the formats: tables in HTML, which threads and READMEs hold for cells that span rows, as rows between bars.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace treeline::runs::run_formats_of {

/// Turns "<tr><td>1</td><td>22</td></tr>", in a line or in several, into "| 1 | 22 |".
class HtmlRows {
public:
    /// The line to read in place of this one: itself where it is of no row, nothing while a row goes on or where tags frame
    /// rows ("<tbody>"), and at its end the row. A row of more than 64 KiB ends there.
    std::optional<std::string> take(std::string_view line);

private:
    std::string row_;
    bool open_ = false;
};

}  // namespace treeline::runs::run_formats_of
