// Internal to the formats: numbers in sentences that may be times or rates, and the clauses around them. Texts are in lower
// case.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runs/formats/prose_labels.h"

namespace treeline::runs::run_formats_of {

/// A number that may be a time or a rate, and where it stands.
struct Figure {
    std::size_t begin = 0, end = 0;  ///< its unit included
    std::string number, unit;
    bool leads = false;    ///< another follows: "from 42 to 78 tok/s", "42 -> 78 tok/s"
    bool follows = false;  ///< the other one
    LoadLabel label;       ///< of a number behind an equals sign: "1k=68"
};

/// The figures of a line, in order: those with a unit, numbers behind a label that states a setup or a load, and the first of
/// two.
std::vector<Figure> figures_of(std::string_view text);

bool ends_with_word(std::string_view text, std::string_view word);
/// The end of "1,024.5" or "1.2k" at `at`.
std::size_t end_of_number(std::string_view text, std::size_t at);
/// Where what is said of a figure ends: a comma, a full stop or a word that begins something else, outside brackets.
std::size_t end_of_clause(std::string_view text, std::size_t at);
/// The clauses of a text, the nearest to its end first.
std::vector<std::string> clauses_of(std::string_view text);
/// "K=3", "baseline" or "drafts" of a clause; empty where it says nothing of drafts.
std::string setup_in(const std::string& clause);

}  // namespace treeline::runs::run_formats_of
