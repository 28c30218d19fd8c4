// Does each way of stating a tree give the tree it promises, and does each refuse what its engine would refuse?
#include <catch2/catch.hpp>

#include "sim/trees/frontier_tree.h"
#include "sim/trees/tree_shape.h"

namespace tree_shape_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

DraftTree build(const TreeShape& shape, const RankAcceptance& acceptance = RankAcceptance::halving(8)) {
    const std::vector<std::string> found = problems(shape);
    CAPTURE(found);
    REQUIRE(found.empty());
    return build_tree(shape, acceptance);
}

std::string only_problem(const TreeShape& shape) {
    const std::vector<std::string> found = problems(shape);
    CAPTURE(found);
    REQUIRE(found.size() == 1);
    return found.front();
}

}  // namespace

TEST_CASE("plain shapes") {
    CHECK(build(ChainShape{3}).parents() == std::vector<int>{0, 1, 2});
    CHECK(build(VllmShape{3}) == build(ChainShape{3}));
    CHECK(build(WidthsShape{{2, 3}}).parents() == std::vector<int>{0, 0, 1, 1, 2});  // 3 on 2: the first has one more
    CHECK(build(WidthsShape{{4, 2}}).parents() == std::vector<int>{0, 0, 0, 0, 1, 2});
    CHECK(build(WidthsShape{{1, 1, 1}}) == build(ChainShape{3}));
    CHECK(build(BinaryShape{5}).verified_tokens() == 31);
    CHECK(build(BinaryShape{1}).nodes() == 0);
    CHECK(build(SequencesShape{2, 3}).parents() == std::vector<int>{0, 0, 1, 2, 3, 4});
    CHECK(build(ParentsShape{{0, 1, 1, 0}}) == build(ChildTableShape{{{2}, {2, 0}}}));
}

TEST_CASE("published static trees") {
    // STree's repository: MIL-st has 13 tokens with the root, mamba-st 18.
    CHECK(build(ChildTableShape{{{3, 0, 0}, {2, 1, 0}, {2, 1, 0}, {3, 0, 0}}}).parents() ==
          std::vector<int>{0, 0, 0, 1, 1, 2, 4, 4, 5, 7, 7, 7});
    CHECK(build(ChildTableShape{{{5}, {2, 1, 1}, {2, 1, 1}, {2, 2}}}).level_widths() == std::vector<int>{5, 4, 4, 4});
    // Mamba drafters (arXiv 2506.01206): level i runs as a batch of N1·…·Ni.
    CHECK(build(BranchingShape{{3, 2, 2, 1, 1}}).level_widths() == std::vector<int>{3, 6, 12, 12, 12});
    CHECK(build(BranchingShape{{3, 3, 2, 1}}).level_widths() == std::vector<int>{3, 9, 18, 18});
    CHECK(build(BranchingShape{{2, 2, 2, 1, 1, 1}}).nodes() == 2 + 4 + 8 + 8 + 8 + 8);
}

TEST_CASE("frontier trees keep the best candidates of the pool") {
    // p = 0.6, 0.3, top-k 2, 2 steps. Candidates: 0.6, 0.3; 0.36, 0.18 and 0.18, 0.09. Best 4: 0.6, 0.36, 0.3 and the first
    // 0.18.
    const RankAcceptance acceptance({0.6, 0.3});
    CHECK(frontier_candidates(2, 2) == 6);
    CHECK(build(SglangShape{2, 2, 5}, acceptance).parents() == std::vector<int>{0, 0, 1, 1});
    CHECK(build(SglangShape{2, 2, 7}, acceptance).nodes() == 6);
    CHECK(build(TensorRtShape{2, 2, 4}, acceptance) == build(SglangShape{2, 2, 5}, acceptance));
    // The frontier is only as wide as top-k: of 0.5, 0.3, 0.2 with top-k 3 three of nine candidates grow on.
    const DraftTree wide = build(SglangShape{3, 3, 22}, RankAcceptance({0.5, 0.3, 0.2}));
    CHECK(wide.nodes() == 21);  // 3 + 9 + 9
    CHECK(wide.level_widths() == std::vector<int>{3, 9, 9});
    CHECK(build(SglangShape{5, 1, 6}) == build(ChainShape{5}));
    // A rank that is accepted more often than the one before is still taken after it.
    CHECK(build(SglangShape{1, 3, 3}, RankAcceptance({0.4, 0.1, 0.3})).parents() == std::vector<int>{0, 0});
}

TEST_CASE("beam trees keep every token of every step") {
    // p = 0.6, 0.3: 0.6, 0.3; then 0.36, 0.18 of the first and 0.18, 0.09 of the second: the best two are both of the first.
    CHECK(build(BeamShape{2, 2}, RankAcceptance({0.6, 0.3})).parents() == std::vector<int>{0, 0, 1, 1});
    // p = 0.5, 0.4: 0.25, 0.2 and 0.2, 0.16: again both of the first, as equals go to the one found first.
    CHECK(build(BeamShape{2, 2}, RankAcceptance({0.5, 0.4})).parents() == std::vector<int>{0, 0, 1, 1});
    for (const int beams : {1, 2, 4, 7}) {
        for (const int steps : {1, 4, 8}) {
            const DraftTree tree = build(BeamShape{beams, steps});
            CHECK(tree.level_widths() == std::vector<int>(static_cast<std::size_t>(steps), beams));
        }
    }
}

TEST_CASE("what an engine or a tree cannot be is named in one sentence") {
    using Catch::Matchers::Contains;
    // Pool: 2 + 2·4 = 10 candidates for 31 draft tokens.
    CHECK_THAT(only_problem(SglangShape{3, 2, 32}), Contains("pool of top-k + (steps - 1) * top-k^2 = 10 candidates"));
    CHECK(problems(SglangShape{3, 2, 11}).empty());
    CHECK_THAT(only_problem(SglangShape{3, 2, 12}), Contains("fewer than 11"));
    CHECK_THAT(only_problem(SglangShape{5, 1, 9}), Contains("steps + 1 = 6"));
    CHECK_THAT(only_problem(TensorRtShape{4, 3, 13}), Contains("max_topK * max_draft_len = 12"));
    CHECK_THAT(only_problem(TensorRtShape{4, 3, 3}), Contains("max_draft_len = 4"));
    CHECK_THAT(only_problem(ChainShape{0}), Contains("between 1 and 4096, not 0"));
    CHECK_THAT(only_problem(WidthsShape{{3, 0}}), Contains("width of level 2"));
    CHECK_THAT(only_problem(WidthsShape{{4000, 97}}), Contains("4097 nodes"));
    CHECK_THAT(only_problem(BranchingShape{std::vector<int>(40, 4096)}), Contains("more than 4096 nodes"));
    CHECK_THAT(only_problem(ChildTableShape{{{1}, {1, 1}}}), Contains("node 2 of level 1, which has only 1"));
    CHECK_THAT(only_problem(BinaryShape{13}), Contains("between 1 and 12"));
    CHECK(build(BinaryShape{12}).nodes() == 4094);
    CHECK_THAT(only_problem(SequencesShape{100, 100}), Contains("10000 nodes"));
    CHECK_THAT(only_problem(BeamShape{200, 200}), Contains("40000 nodes"));
    CHECK_THAT(only_problem(OptimalShape{1025, 8, 0}), Contains("between 0 and 1024"));
    CHECK(problems(ParentsShape{{2, 1}}).size() == 1);
}

TEST_CASE("a candidate's score is the product along its path, that of the first candidate as of any other") {
    // Of 0.5, 0.45; 0.25, 0.225; 0.225, 0.2025 the best two are both children of the root.
    CHECK(build(SglangShape{2, 2, 3}, RankAcceptance({0.5, 0.45})).parents() == std::vector<int>{0, 0});
}

}  // namespace tree_shape_test
