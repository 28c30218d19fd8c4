// Internal to the formats: rows of tables whose columns stand between "|".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace treeline::runs::run_formats_of {

/// The line with "|" in place of the upright strokes that boxes are drawn with.
std::string with_plain_bars(std::string_view line);
/// The cells of a row that begins with "|", without blanks, stars and backticks around them.
std::vector<std::string> cells_of_row(std::string_view line);
/// "|---|:--:|": a row without content. The first cell may be of a launcher's prefix.
bool is_ruler(const std::vector<std::string>& cells);

/// A line that only draws: "+-----+", "┡━━━╇", or nothing at all.
bool only_draws(std::string_view line);

}  // namespace treeline::runs::run_formats_of
