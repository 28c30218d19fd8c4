// Charts of the best draft tree at each batch.
#pragma once

#include <string>
#include <vector>

#include "reports/figure.h"
#include "sweeps/tree_search.h"

namespace treeline::reports {

/// Speed-up and size of the best tree and the best chain, by batch. `where` names models and platform in the text.
FigureSection best_tree_section(const std::vector<sweeps::BestAtBatch>& best, const std::string& where);

/// "24 nodes on 6 levels", "chain of 4", "none".
std::string choice_text(const sweeps::TreeChoice& choice);

/// What changes with the batch, in one or two sentences.
std::string best_tree_sentence(const std::vector<sweeps::BestAtBatch>& best);

}  // namespace treeline::reports
