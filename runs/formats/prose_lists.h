// Internal to the formats: sentences that give several settings and, in the same order, what each of them reached.
#pragma once

#include <string>
#include <string_view>

namespace treeline::runs::run_formats_of {

/// A line whose parallel lists are taken apart.
struct LinesLists {
    std::string text;
    bool left_out = false;  ///< a list of rates was blanked out, since nothing pairs them with settings
};

/// "n-max 8 / 16: 165 / 170 tok/s" as "n-max 8: 165 tok/s; n-max 16: 170 tok/s", and "baseline / K=2: 63 / 80 tok/s" alike.
/// Rates that no list of settings stands before are several runs where they are near each other, and otherwise of unknown
/// settings. Texts are in lower case.
LinesLists with_lists_apart(std::string_view line);

}  // namespace treeline::runs::run_formats_of
