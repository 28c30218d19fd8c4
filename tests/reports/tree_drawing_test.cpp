// Do the drawings show every token where it belongs, and stay readable for large trees?
#include <catch2/catch.hpp>

#include <sstream>

#include "reports/tree_drawing.h"
#include "sim/trees/rank_acceptance.h"
#include "sim/trees/tree_shape.h"

namespace tree_drawing_test {

using namespace treeline;
using namespace treeline::reports;

namespace {

sim::DraftTree build(const sim::TreeShape& shape) { return sim::build_tree(shape, sim::RankAcceptance::halving(8)); }

std::size_t count(const std::string& text, const std::string& word) {
    std::size_t found = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) {
        ++found;
    }
    return found;
}

std::size_t longest_line(const std::string& text) {
    std::size_t longest = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        longest = std::max(longest, line.size());
    }
    return longest;
}

}  // namespace

TEST_CASE("text: one line a leaf, siblings joined") {
    CHECK(tree_as_text(sim::DraftTree()) == "0\n");
    CHECK(tree_as_text(build(sim::ChainShape{3})) == "0---1---2---3\n");
    CHECK(tree_as_text(build(sim::ParentsShape{{0, 0, 0, 1, 1, 2, 4}})) ==
          "0-+-1-+-4---7\n"
          "  |   `-5\n"
          "  |-2---6\n"
          "  `-3\n");
    CHECK(tree_as_text(build(sim::ParentsShape{{0, 0, 1, 1, 2}}), {"*", ".9", ".1", ".81", ".09", ".09"}) ==
          "*-+-.9-+-.81\n"
          "  |    `-.09\n"
          "  `-.1---.09\n");
    CHECK(tree_as_text(build(sim::BinaryShape{6})).size() < 32 * 40);
}

TEST_CASE("text: long chains lose their middle, wide trees their end, and say so") {
    CHECK(tree_as_text(build(sim::ChainShape{60})) == "0...60\n");
    CHECK(tree_as_text(build(sim::SequencesShape{2, 40})) ==
          "0-+-1...79\n"
          "  `-2...80\n");
    const std::string branching = tree_as_text(build(sim::BranchingShape{{3, 2, 2, 1, 1}}), {}, 20);
    CHECK(count(branching, "...") == 12);
    CHECK(longest_line(branching) <= 20);
    const std::string wide = tree_as_text(build(sim::WidthsShape{{500}}), {}, 110, 10);
    CHECK(count(wide, "\n") == 11);
    CHECK(wide.find("... and 490 more leaves") != std::string::npos);
}

TEST_CASE("SVG: a circle for each token, a line for each node, sizes by acceptance, any title is text") {
    const sim::DraftTree tree = build(sim::BranchingShape{{3, 2}});
    const sim::RankAcceptance acceptance({0.5, 0.3});
    const std::string svg = tree_as_svg(tree, sim::path_acceptance(tree, acceptance), "a < b & \x01 </svg>");
    CHECK(count(svg, "<circle") == 10);
    CHECK(count(svg, "M") == 9);
    CHECK(count(svg, "</svg>") == 1);
    CHECK(svg.find("a &lt; b &amp;   &lt;/svg&gt;") != std::string::npos);
    CHECK(svg.find("r=\"7.07\"") != std::string::npos);  // 10 · sqrt(0.5), the child of rank 1
    CHECK(svg.find("r=\"1.5\"") != std::string::npos);   // the child of rank 3, never accepted
    CHECK(svg.find("currentColor") != std::string::npos);
    CHECK(count(tree_as_svg(build(sim::WidthsShape{{200}}), {}, "wide"), "<text") == 0);
    CHECK(count(tree_as_svg(sim::DraftTree(), {}, "root"), "<circle") == 1);
}

}  // namespace tree_drawing_test
