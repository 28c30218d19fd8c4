// What `treeline study break-even` answers, as sentence, table, JSON, CSV and page.
#pragma once

#include <string>

#include "reports/figure.h"
#include "sweeps/break_even_study.h"

namespace treeline::reports {

/// The sizes at which a tree pays, where it pays most, and where it stops; or why none does.
std::string sentence_of(const sweeps::BreakEvenAnswer& answer);
std::string break_even_table(const sweeps::BreakEvenAnswer& answer);
/// Format "treeline-break-even", version 1.
std::string break_even_json(const sweeps::BreakEvenAnswer& answer);
/// One line per size.
std::string break_even_csv(const sweeps::BreakEvenAnswer& answer);
/// Its charts, as a section of any page.
FigureSection break_even_section(const sweeps::BreakEvenAnswer& answer);
/// A self-contained page: the ratio needed and reached by size (STree's Figure 2c), the gain, the times of rounds.
std::string break_even_page(const sweeps::BreakEvenAnswer& answer);

}  // namespace treeline::reports
