// Is a draft tree the same tree however it is stated, and do its queries agree with a walk along the parents?
#include <catch2/catch.hpp>

#include <random>
#include <set>

#include "sim/trees/draft_tree.h"

namespace draft_tree_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

std::vector<int> random_parents(std::mt19937& random, int nodes) {
    std::vector<int> parents;
    for (int i = 0; i < nodes; ++i) {
        parents.push_back(std::uniform_int_distribution<int>(0, i)(random));
    }
    return parents;
}

/// The tree below a token, written out: children by rank in brackets. Slow, and independent of the numbering.
std::string written(const std::vector<int>& parents, int token) {
    std::string text = "(";
    for (std::size_t i = 0; i < parents.size(); ++i) {
        text += parents[i] == token ? written(parents, static_cast<int>(i) + 1) : "";
    }
    return text + ")";
}

std::set<int> path_to(const DraftTree& tree, int token) {
    std::set<int> path;
    for (; token >= 0; token = tree.parent(token)) {
        path.insert(token);
    }
    return path;
}

}  // namespace

TEST_CASE("the root alone is a tree without nodes") {
    const DraftTree tree;
    CHECK(tree.nodes() == 0);
    CHECK(tree.verified_tokens() == 1);
    CHECK(tree.depth() == 0);
    CHECK(tree.leaves() == 1);
    CHECK(tree.unrolled().paths == std::vector<std::vector<int>>{{0}});
    CHECK(tree == DraftTree::from_parents({}));
}

TEST_CASE("counts, ranks and levels of a small tree") {
    // 0 -> 1, 2, 3; 1 -> 4, 5; 2 -> 6; 4 -> 7
    const DraftTree tree = DraftTree::from_parents({0, 0, 0, 1, 1, 2, 4});
    CHECK(tree.nodes() == 7);
    CHECK(tree.depth() == 3);
    CHECK(tree.level_widths() == std::vector<int>{3, 3, 1});
    CHECK(tree.leaves() == 4);  // 3, 5, 6, 7
    CHECK(tree.most_children() == 3);
    CHECK(tree.rank(3) == 3);
    CHECK(tree.rank(5) == 2);
    CHECK(tree.rank(0) == 0);
    CHECK(tree.level(7) == 3);
    CHECK(tree.first_child(2) == 6);
    // Leaves in depth-first order with paths of 4, 3, 3 and 2 tokens: 12, and 8 when packed.
    CHECK(tree.unrolled().paths == std::vector<std::vector<int>>{{0, 1, 4, 7}, {0, 1, 5}, {0, 2, 6}, {0, 3}});
    CHECK(tree.unrolled().tokens == 12);
    CHECK(tree.unrolled().repeated_tokens == 4);
}

TEST_CASE("a full binary tree of 4, 5 and 6 levels packs 15, 31, 63 tokens and unrolls to 2^(D-1) paths of D tokens") {
    // STree (arXiv 2505.14969), Figure 3: unrolled 8, 16, 32 states and 32, 80, 192 tokens (the paper prints 90 for 16 · 5).
    for (const auto& [levels, packed, states, tokens] : {std::array{4, 15, 8, 32}, {5, 31, 16, 80}, {6, 63, 32, 192}}) {
        std::vector<int> parents;
        for (int token = 1; token < packed; ++token) {
            parents.push_back((token - 1) / 2);
        }
        const DraftTree tree = DraftTree::from_parents(parents);
        CHECK(tree.depth() == levels - 1);
        CHECK(tree.verified_tokens() == packed);
        CHECK(tree.leaves() == states);
        CHECK(tree.unrolled_tokens() == tokens);
        CHECK(static_cast<int>(tree.unrolled().paths.size()) == states);
    }
}

TEST_CASE("random trees: canonical form, mask, levels and unrolled form agree with a walk along the parents") {
    std::mt19937 random(7);
    for (int repeat = 0; repeat < 200; ++repeat) {
        const int nodes = 1 + repeat;
        const std::vector<int> parents = random_parents(random, nodes);
        const DraftTree tree = DraftTree::from_parents(parents);
        REQUIRE(written(tree.parents(), 0) == written(parents, 0));
        REQUIRE(DraftTree::from_parents(tree.parents()).parents() == tree.parents());
        const AncestorMask mask = tree.ancestor_mask();
        REQUIRE(mask.words_per_row == nodes / 64 + 1);
        int wrong_bits = 0, unrolled = 0;
        std::set<int> seen;
        for (int token = 0; token <= nodes; ++token) {
            const std::set<int> path = path_to(tree, token);
            REQUIRE(static_cast<int>(path.size()) == tree.level(token) + 1);
            REQUIRE(tree.parent(token) < token);
            for (int other = 0; other <= nodes; ++other) {
                wrong_bits += mask.at(token, other) != (path.count(other) > 0) ? 1 : 0;
            }
            const auto [begin, end] = tree.level_range(tree.level(token));
            REQUIRE((begin <= token && token < end));
        }
        for (const std::vector<int>& path : tree.unrolled().paths) {
            REQUIRE(path_to(tree, path.back()) == std::set<int>(path.begin(), path.end()));
            REQUIRE(tree.children(path.back()) == 0);
            seen.insert(path.begin(), path.end());
            unrolled += static_cast<int>(path.size());
        }
        REQUIRE(static_cast<int>(seen.size()) == nodes + 1);
        REQUIRE(unrolled == tree.unrolled_tokens());
        REQUIRE(wrong_bits == 0);
    }
}

TEST_CASE("numberings of one shape are one tree; ranks tell shapes apart") {
    const DraftTree by_level = DraftTree::from_parents({0, 0, 1, 1, 2});
    const DraftTree by_depth = DraftTree::from_parents({0, 1, 1, 0, 4});
    const DraftTree second_child_is_larger = DraftTree::from_parents({0, 0, 1, 2, 2});
    CHECK(by_level == by_depth);
    CHECK(by_level.hash() == by_depth.hash());
    CHECK_FALSE(by_level == second_child_is_larger);
}

TEST_CASE("arrays that are no trees are named, one sentence a fault") {
    using Catch::Matchers::Contains;
    const auto only = [](const std::vector<int>& parents) {
        const std::vector<std::string> problems = parent_problems(parents);
        REQUIRE(problems.size() == 1);
        CHECK_THROWS_AS(DraftTree::from_parents(parents), std::invalid_argument);
        return problems.front();
    };
    CHECK(parent_problems({0, 0, 1, 3}).empty());
    CHECK_THAT(only({1}), Contains("cyclic: tokens 1 -> 1"));
    CHECK_THAT(only({0, 3, 4, 2}), Contains("cyclic: tokens 2 -> 3 -> 4 -> 2"));
    CHECK_THAT(only({-1, 0}), Contains("disconnected: token 1 has parent -1"));
    CHECK_THAT(only({0, 7}), Contains("disconnected: token 2 has parent 7, but the last token is 2"));
    CHECK_THAT(only({2, 0}), Contains("token 1 comes before its parent 2"));
    CHECK_THAT(only(std::vector<int>(most_tree_nodes + 1, 0)), Contains("4097 nodes, but at most 4096"));
    CHECK(parent_problems({-1, 9, 4, 5, 4}).size() == 4);  // detached, absent, late (token 3), cyclic (4 and 5)
    CHECK(DraftTree::from_parents(std::vector<int>(most_tree_nodes, 0)).nodes() == most_tree_nodes);
}

TEST_CASE("child counts that fit no tree are refused") {
    CHECK_THROWS_AS(DraftTree::from_child_counts({1, 0, 1}), std::invalid_argument);
    CHECK_THROWS_AS(DraftTree::from_child_counts({-1}), std::invalid_argument);
    CHECK_THROWS_AS(DraftTree::from_child_counts({most_tree_nodes + 1}), std::invalid_argument);
    CHECK(DraftTree::from_child_counts({2}) == DraftTree::from_child_counts({2, 0, 0}));
}

TEST_CASE("trees that differ have hashes that differ") {
    std::set<std::size_t> hashes;
    std::size_t trees = 0;
    for (int first = 1; first <= 6; ++first) {
        for (int second = 0; second <= 6; ++second) {
            for (int third = 0; third <= 6; ++third) {
                std::vector<int> counts = {first, second};
                if (first > 1) {
                    counts.push_back(third);
                }
                if (first > 1 || third == 0) {
                    hashes.insert(DraftTree::from_child_counts(counts).hash());
                    ++trees;
                }
            }
        }
    }
    CHECK(hashes.size() == trees);
}

}  // namespace draft_tree_test
