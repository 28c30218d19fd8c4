// How `treeline tree search` shows what it found.
#pragma once

#include <string>

#include "sweeps/tree_search_study.h"

namespace treeline::reports {

std::string search_table(const sweeps::TreeSearchAnswer& answer);
/// Format "treeline-tree-search", version 1.
std::string search_json(const sweeps::TreeSearchAnswer& answer);
std::string search_csv(const sweeps::TreeSearchAnswer& answer);
std::string search_html(const sweeps::TreeSearchAnswer& answer);

}  // namespace treeline::reports
