// Draft trees as pictures: text for terminals, SVG for pages.
#pragma once

#include <string>
#include <vector>

#include "sim/trees/draft_tree.h"

namespace treeline::reports {

/// The tree from left to right in ASCII, one line for each leaf:
///
///     0-+-1-+-4---7
///       |   `-5
///       |-2---6
///       `-3
///
/// `labels` holds a text for each token, the root first; without any, tokens are numbered. If a line would exceed
/// `most_columns`, levels on which every node is an only child are left out ("..."). Leaves beyond `most_lines` are counted.
std::string tree_as_text(const sim::DraftTree& tree, std::vector<std::string> labels = {}, std::size_t most_columns = 110,
                         std::size_t most_lines = 120);

/// The tree from left to right as one SVG element. Lines and text take the colour of the surrounding text (currentColor), so it
/// suits light and dark pages; opened as a file of its own it follows the reader's colour scheme. The area of a node grows with
/// f(v) = P(it is accepted), `path_acceptance` of each token (sim/trees/rank_acceptance.h); empty: all nodes alike. Numbers are
/// in tooltips and, for trees of up to 128 nodes, beside the nodes. `title` may hold any text.
std::string tree_as_svg(const sim::DraftTree& tree, const std::vector<double>& path_acceptance, const std::string& title);

}  // namespace treeline::reports
