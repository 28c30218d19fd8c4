// Is the best tree the best? Against published-data values, a listing of all trees, and by its properties.
#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>

#include "sequoia_demo.h"
#include "sim/trees/optimal_tree.h"
#include "sim/trees/tree_builder.h"

namespace optimal_tree_test {

using namespace treeline;
using namespace treeline::sim;
using treeline::testing::sequoia_demo;

namespace {

double best(const RankAcceptance& acceptance, TreeBudget budget) {
    return OptimalTrees(acceptance, budget).accept_length(budget.nodes, budget.depth);
}

/// Calls `visit` with every ordered tree of exactly `nodes` nodes, as child counts in level order.
void for_each_tree(int nodes, const std::function<void(const DraftTree&)>& visit) {
    std::vector<int> counts;
    const std::function<void(int)> extend = [&](int placed) {
        const int tokens = placed + 1;
        if (static_cast<int>(counts.size()) == tokens) {
            if (placed == nodes) {
                visit(DraftTree::from_child_counts(counts));
            }
            return;
        }
        for (int children = 0; placed + children <= nodes; ++children) {
            counts.push_back(children);
            extend(placed + children);
            counts.pop_back();
        }
    };
    extend(0);
}

}  // namespace

TEST_CASE("Sequoia's demo vector gives the published-data values") {
    // Computed with exact rationals for the same vector, at most 9 children; n and levels count the root.
    struct Row {
        int n, levels;
        double value;
    };
    for (const Row& row : {Row{2, 2, 1.634183}, Row{2, 3, 1.634183}, Row{2, 5, 1.634183}, Row{2, 10, 1.634183},
                           Row{4, 2, 1.799100}, Row{4, 3, 2.144317}, Row{4, 5, 2.291432}, Row{4, 10, 2.291432},
                           Row{8, 2, 1.860570}, Row{8, 3, 2.374334}, Row{8, 5, 2.698048}, Row{8, 10, 2.732173}}) {
        CAPTURE(row.n, row.levels);
        CHECK(best(sequoia_demo, {row.n - 1, row.levels - 1, 9}) == Approx(row.value).margin(5e-7));  // printed to six decimals
    }
}

TEST_CASE("the best of all trees of up to 8 nodes") {
    const std::vector<RankAcceptance> vectors = {sequoia_demo, RankAcceptance({0.5, 0.3, 0.2}),
                                                 RankAcceptance({0.1, 0.6, 0.25}), RankAcceptance({0.0, 0.0, 0.9}),
                                                 RankAcceptance({1.0})};
    constexpr int most_nodes = 8, most_children = 9;
    for (const RankAcceptance& acceptance : vectors) {
        // listed[n][d][c]: best of all trees of exactly n nodes, d levels and c children at the most.
        double listed[most_nodes + 1][most_nodes + 1][most_children + 1] = {};
        int trees = 0;
        for (int nodes = 0; nodes <= most_nodes; ++nodes) {
            for_each_tree(nodes, [&](const DraftTree& tree) {
                double& entry = listed[nodes][tree.depth()][tree.most_children()];
                entry = std::max(entry, accept_length(tree, acceptance));
                ++trees;
            });
        }
        REQUIRE(trees == 1 + 1 + 2 + 5 + 14 + 42 + 132 + 429 + 1430);  // Catalan numbers
        for (int children = 1; children <= most_children; ++children) {
            const OptimalTrees optimal(acceptance, {most_nodes, most_nodes, children});
            for (int nodes = 0; nodes <= most_nodes; ++nodes) {
                for (int depth = 0; depth <= most_nodes; ++depth) {
                    double expected = 0.0;
                    for (int n = 0; n <= nodes; ++n) {
                        for (int d = 0; d <= depth; ++d) {
                            expected = std::max(expected, *std::max_element(listed[n][d], listed[n][d] + children + 1));
                        }
                    }
                    CAPTURE(nodes, depth, children);
                    REQUIRE(std::abs(optimal.accept_length(nodes, depth) - expected) < 1e-12);
                }
            }
        }
    }
}

TEST_CASE("the tree that is rebuilt has the accept length and keeps to the budget") {
    for (const RankAcceptance& acceptance :
         {sequoia_demo, RankAcceptance({0.1, 0.6, 0.25}), RankAcceptance({0.4, 0.3, 0.2, 0.1}), RankAcceptance({0.0})}) {
        const OptimalTrees optimal(acceptance, {200, 12, 9});
        for (const int nodes : {0, 1, 7, 63, 127, 200}) {
            for (const int depth : {0, 1, 2, 5, 12}) {
                CAPTURE(nodes, depth);
                const DraftTree tree = optimal.tree(nodes, depth);
                CHECK(tree.nodes() <= nodes);
                CHECK(tree.depth() <= depth);
                CHECK(tree.most_children() <= 9);
                CHECK(accept_length(tree, acceptance) == Approx(optimal.accept_length(nodes, depth)).epsilon(1e-12));
            }
        }
    }
    CHECK(OptimalTrees(RankAcceptance({0.9}), {5, 5, 0}).tree(5, 5) == DraftTree::from_parents({0, 1, 2, 3, 4}));
}

TEST_CASE("a larger budget, more levels or more children never lower the accept length") {
    for (const RankAcceptance& acceptance : {sequoia_demo, RankAcceptance({0.2, 0.05, 0.6})}) {
        const OptimalTrees optimal(acceptance, {300, 20, 0});
        for (int depth = 0; depth <= 20; ++depth) {
            for (int nodes = 0; nodes <= 300; ++nodes) {
                const double value = optimal.accept_length(nodes, depth);
                REQUIRE((nodes == 0 || value >= optimal.accept_length(nodes - 1, depth)));
                REQUIRE((depth == 0 || value >= optimal.accept_length(nodes, depth - 1)));
            }
        }
        for (int children = 1; children < 12; ++children) {
            REQUIRE(best(acceptance, {64, 8, children + 1}) >= best(acceptance, {64, 8, children}));
        }
    }
}

TEST_CASE("with acceptance that falls with the rank the best tree holds the largest path products") {
    // Independent of the tables: repeatedly take the largest product whose parent and lower ranks are taken.
    const RankAcceptance acceptance({0.55, 0.2, 0.1, 0.05});
    constexpr int nodes = 100, depth = 6;
    struct Open {
        double product;
        int rank, level;
        double parent;
    };
    std::vector<Open> open = {{0.55, 1, 1, 1.0}};
    double sum = 1.0;
    for (int taken = 0; taken < nodes; ++taken) {
        const auto at =
            std::max_element(open.begin(), open.end(), [](const Open& a, const Open& b) { return a.product < b.product; });
        const Open node = *at;
        open.erase(at);
        sum += node.product;
        open.push_back({node.parent * acceptance.rank(node.rank + 1), node.rank + 1, node.level, node.parent});
        if (node.level < depth) {
            open.push_back({node.product * acceptance.rank(1), 1, node.level + 1, node.product});
        }
    }
    CHECK(best(acceptance, {nodes, depth, 0}) == Approx(sum).epsilon(1e-12));
}

TEST_CASE("the tables stay within their stated size, and budgets beyond the limits are named") {
    CHECK(OptimalTrees(sequoia_demo, {1024, 32, 9}).table_bytes() == 8u * 32 * 10 * 1025);
    CHECK(problems(TreeBudget{1024, 64, 64}).empty());
    CHECK(problems(TreeBudget{-1, 65, 65}).size() == 3);
}

TEST_CASE("a builder makes a list of best trees from one programme a limit on children") {
    std::vector<TreeShape> shapes = {ChainShape{3}, SglangShape{4, 3, 16}};
    for (const int children : {0, 2, 5}) {
        for (const int depth : {1, 3, 7}) {
            for (const int nodes : {1, 6, 21, 40}) {
                shapes.emplace_back(OptimalShape{nodes, depth, children});
            }
        }
    }
    const TreeBuilder builder(sequoia_demo, shapes);
    for (const TreeShape& shape : shapes) {
        CHECK(builder.build(shape) == build_tree(shape, sequoia_demo));
    }
}

}  // namespace optimal_tree_test
