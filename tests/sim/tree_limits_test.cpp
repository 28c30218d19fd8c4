// Is each shape of a draft accepted at its limits and refused beyond them?
#include <catch2/catch.hpp>

#include "sim/trees/draft_tree.h"
#include "sim/trees/optimal_tree.h"
#include "sim/trees/tree_shape.h"

namespace tree_limits_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

std::size_t wrong(const TreeShape& shape) { return problems(shape).size(); }

}  // namespace

TEST_CASE("4,096 nodes are the most of any shape") {
    CHECK(wrong(ChainShape{1}) == 0);
    CHECK(wrong(ChainShape{4096}) == 0);
    CHECK(wrong(ChainShape{4097}) == 1);
    CHECK(wrong(VllmShape{0}) == 1);
    CHECK(wrong(WidthsShape{{1, 4095}}) == 0);
    CHECK(wrong(WidthsShape{{1, 4096}}) == 1);
    CHECK(wrong(BranchingShape{{4096}}) == 0);
    CHECK(wrong(BranchingShape{{1, 4095}}) == 0);
    CHECK(wrong(BranchingShape{{1, 4096}}) == 1);
    CHECK(wrong(BranchingShape{{0}}) == 1);
    CHECK(wrong(ChildTableShape{{{2}, {4094}}}) == 0);
    CHECK(wrong(ChildTableShape{{{2}, {4095}}}) == 1);
    CHECK(wrong(ChildTableShape{{{2}, {0, 1}}}) == 0);
    CHECK(wrong(ChildTableShape{{{2}, {0, 0, 0}}}) == 0);  // a third node would have no children
    CHECK(wrong(ChildTableShape{{{2}, {0, 0, 1}}}) == 1);
    CHECK(wrong(ChildTableShape{{{-1}}}) == 1);
    CHECK(wrong(SequencesShape{64, 64}) == 0);
    CHECK(wrong(SequencesShape{64, 65}) == 1);
    CHECK(wrong(BeamShape{16, 256}) == 0);
    CHECK(wrong(BeamShape{16, 257}) == 1);
    CHECK(wrong(BeamShape{256, 16}) == 0);
    CHECK(wrong(BeamShape{257, 1}) == 1);
    CHECK(wrong(BeamShape{17, 256}) == 1);
    CHECK(wrong(BinaryShape{1}) == 0);
    CHECK(wrong(BinaryShape{0}) == 1);
}

TEST_CASE("what SGLang and TensorRT-LLM can draft") {
    CHECK(wrong(SglangShape{5, 1, 6}) == 0);
    CHECK(wrong(SglangShape{5, 1, 5}) == 1);
    CHECK(wrong(SglangShape{5, 2, 2}) == 0);
    CHECK(wrong(SglangShape{5, 2, 1}) == 1);
    CHECK(wrong(SglangShape{256, 256, 4097}) == 0);
    CHECK(wrong(SglangShape{256, 256, 4098}) == 1);
    CHECK(wrong(TensorRtShape{4, 3, 4}) == 0);
    CHECK(wrong(TensorRtShape{4, 3, 12}) == 0);
    CHECK(wrong(TensorRtShape{256, 16, 4096}) == 0);
    CHECK(wrong(TensorRtShape{256, 17, 4097}) == 1);
    CHECK_FALSE(lets_branch(SglangShape{5, 1, 6}));
    CHECK(lets_branch(SglangShape{5, 2, 6}));
    CHECK_FALSE(lets_branch(TensorRtShape{4, 1, 4}));
    CHECK(lets_branch(TensorRtShape{4, 2, 4}));
    CHECK_FALSE(lets_branch(BeamShape{1, 4}));
    CHECK(lets_branch(BeamShape{2, 4}));
    CHECK_FALSE(lets_branch(ChainShape{4}));
}

TEST_CASE("budgets of best trees") {
    CHECK(problems(TreeBudget{0, 0, 0}).empty());
    CHECK(problems(TreeBudget{1024, 64, 64}).empty());
    CHECK(problems(TreeBudget{1025, 64, 64}).size() == 1);
    CHECK(problems(TreeBudget{1024, 65, 64}).size() == 1);
    CHECK(problems(TreeBudget{1024, 64, 65}).size() == 1);
    CHECK(problems(TreeBudget{-1, -1, -1}).size() == 3);
}

TEST_CASE("parents that make no tree") {
    CHECK(parent_problems({0, 1, 0}).empty());
    CHECK(parent_problems({}).empty());
    CHECK(parent_problems(std::vector<int>(4096, 0)).empty());
    CHECK(parent_problems(std::vector<int>(4097, 0)) ==
          std::vector<std::string>{"the tree has 4097 nodes, but at most 4096 are possible"});
    CHECK(
        parent_problems({-1, -2}).front() ==
        "the tree is disconnected: token 1 has parent -1, but only the root has none (the root is token 0 and has no entry of "
        "its own)");
    CHECK(parent_problems({0, 3}).front() == "the tree is disconnected: token 2 has parent 3, but the last token is 2");
    CHECK(parent_problems({0, 2}).front() == "the tree is cyclic: tokens 2 -> 2");
    CHECK(parent_problems({3, 1, 2}).front() == "the tree is cyclic: tokens 1 -> 3 -> 2 -> 1");
    CHECK(parent_problems({2, 0}).front() == "token 1 comes before its parent 2, but parents must come before their children");
    CHECK_THROWS(DraftTree::from_child_counts({1, 1, 1, -1}));
    CHECK_THROWS(DraftTree::from_child_counts({0, 0}));
    CHECK(DraftTree::from_child_counts({4096}).nodes() == 4096);
    CHECK_THROWS(DraftTree::from_child_counts({4097}));
}

TEST_CASE("widths are shared out from the first parent on") {
    const DraftTree tree = build_tree(WidthsShape{{2, 5, 3}}, {});
    CHECK(tree.children(1) == 3);
    CHECK(tree.children(2) == 2);
    CHECK(tree.children(3) == 1);
    CHECK(tree.children(5) == 1);
    CHECK(tree.children(6) == 0);
    CHECK(tree.depth() == 3);
    CHECK(tree.most_children() == 3);
    const DraftTree table = build_tree(ChildTableShape{{{2}, {0, 3}, {1}}}, {});
    CHECK(table.nodes() == 6);
    CHECK(table.children(1) == 0);
    CHECK(table.children(2) == 3);
    CHECK(table.children(3) == 1);
    CHECK(build_tree(BinaryShape{3}, {}).nodes() == 6);
    const DraftTree sequences = build_tree(SequencesShape{3, 2}, {});
    CHECK(sequences.children(0) == 3);
    CHECK(sequences.leaves() == 3);
    CHECK(sequences.nodes() == 6);
}

TEST_CASE("a cycle of up to eight tokens is told whole, a longer one by its beginning") {
    const auto told = [](const std::vector<int>& parents) { return parent_problems(parents).front(); };
    CHECK_THAT(told({2, 3, 4, 5, 6, 7, 8, 1}), Catch::EndsWith("1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> 8 -> 1"));
    CHECK_THAT(told({2, 3, 4, 5, 6, 7, 8, 9, 1}), Catch::EndsWith("1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> 8 -> 9 -> ..."));
}

}  // namespace tree_limits_test
