// How `treeline tree search` shows what it found.
#pragma once

#include <string>

#include "sweeps/tree_search_study.h"

namespace treeline {

std::string search_table(const TreeSearchAnswer& answer);
/// Format "treeline-tree-search", version 1.
std::string search_json(const TreeSearchAnswer& answer);
std::string search_csv(const TreeSearchAnswer& answer);
std::string search_html(const TreeSearchAnswer& answer);

}  // namespace treeline
