// How draft trees are called in tables and messages.
#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

#include "sweeps/tree_study.h"

namespace tree_texts_test {

using namespace treeline;

TEST_CASE("a tree is called by its kind and its numbers, in the order in which flags take them") {
    const std::vector<std::pair<sim::TreeShape, std::string>> trees = {
        {sim::ChainShape{4}, "chain 4"},
        {sim::WidthsShape{{4, 8, 8}}, "widths 4,8,8"},
        {sim::BranchingShape{{3, 2}}, "branching 3,2"},
        {sim::ChildTableShape{{{3}, {2, 1}, {2, 0, 1}}}, "children 3/2,1/2,0,1"},
        {sim::ParentsShape{{0, 0, 1}}, "parents 0,0,1"},
        {sim::BinaryShape{4}, "binary 4"},
        {sim::SequencesShape{3, 5}, "sequences 3x5"},
        {sim::BeamShape{4, 6}, "beams 4x6"},
        {sim::SglangShape{5, 4, 32}, "sglang 5,4,32"},
        {sim::VllmShape{7}, "vllm 7"},
        {sim::TensorRtShape{4, 8, 30}, "tensorrt_llm 4,8,30"},
        {sim::OptimalShape{24, 6, 3}, "optimal 24,6,3"},
        {sim::OptimalShape{24, 6, 0}, "optimal 24,6"},  // as many children as there are ranks
    };
    for (const auto& [shape, text] : trees) {
        CHECK(sweeps::text_of(shape) == text);
    }
}

TEST_CASE("a tree of many numbers is called by the first of them") {
    const std::string text = sweeps::text_of(sim::ParentsShape{std::vector<int>(64, 0)});
    CHECK(text.size() <= 40 + 3);  // dots are three bytes
    CHECK(text.starts_with("parents 0,0,0,0,0,0,0,0"));
}

}  // namespace tree_texts_test
