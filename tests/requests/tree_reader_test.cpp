// Does every notation of a tree read back what it writes?
#include <catch2/catch.hpp>

#include "json/reader.h"
#include "requests/tree_reader.h"

namespace tree_reader_test {

using namespace treeline;
using namespace treeline::requests;

TEST_CASE("each kind of tree writes the text that it reads, as flag, as short form and in a file") {
    const sim::RankAcceptance acceptance({0.5, 0.3});
    struct Case {
        std::string key, text, json;
    };
    const std::vector<Case> cases = {
        {"chain", "5", R"({"chain": 5})"},
        {"widths", "4,8,8", R"({"widths": [4, 8, 8]})"},
        {"branching", "3,2,2,1,1", R"({"branching": [3, 2, 2, 1, 1]})"},
        {"children", "3/2,1,0/2,1/3", R"({"children": [[3], [2, 1, 0], [2, 1], [3]]})"},
        {"parents", "0,0,1", R"({"parents": [0, 0, 1]})"},
        {"binary", "5", R"({"binary": 5})"},
        {"sequences", "2x6", R"({"sequences": {"drafts": 2, "draft_tokens": 6}})"},
        {"beams", "4x5", R"({"beams": {"beams": 4, "steps": 5}})"},
        {"sglang", "5,4,32", R"({"sglang": {"steps": 5, "top_k": 4, "draft_tokens": 32}})"},
        {"vllm", "5", R"({"vllm": 5})"},
        {"tensorrt_llm", "5,4,20", R"({"tensorrt_llm": {"max_draft_len": 5, "max_top_k": 4, "max_total_draft_tokens": 20}})"},
        {"optimal", "9,4", R"({"optimal": {"nodes": 9, "depth": 4}})"},
    };
    CHECK(cases.size() == tree_kinds().size());
    for (const Case& each : cases) {
        CAPTURE(each.key);
        const sweeps::NamedTree by_flag = read_tree(kind_named(each.key), each.text, acceptance);
        CHECK(by_flag.label == each.key + " " + each.text);
        CHECK(read_tree(each.key + ":" + each.text, {}, acceptance).tree == by_flag.tree);
        const sweeps::NamedTree by_file = read_tree(each.json, {}, acceptance);
        CHECK(by_file.tree == by_flag.tree);
        CHECK(by_file.label == by_flag.label);
        CHECK_FALSE(by_flag.assumed_order);
    }
}

TEST_CASE("trees that candidates grow into say when their order is assumed") {
    CHECK(read_tree("sglang:5,4,32", {}, std::nullopt).assumed_order);
    CHECK_FALSE(read_tree("widths:4,8", {}, std::nullopt).assumed_order);
    CHECK_THROWS_AS(read_tree("optimal:5,5", {}, std::nullopt), text::InputError);
}

}  // namespace tree_reader_test
