// Shapes, ways of verifying and acceptance of siblings as input files write them.
#include "requests/speculation_reader.h"

#include <catch2/catch.hpp>

#include "json_input.h"
#include "requests/setup_reader.h"

namespace speculation_reader_test {

using namespace treeline;
using namespace treeline::requests;
using treeline::testing::Input;

namespace {

SpeculationAxis axis(const std::string& keys) {
    Input input("{" + keys + "}");
    SpeculationAxis result = read_speculations(input.root, input.descriptions);
    input.root.finish();
    CHECK(input.problems().empty());
    return result;
}

std::string axis_problem(const std::string& keys) {
    Input input("{" + keys + "}");
    static_cast<void>(read_speculations(input.root, input.descriptions));
    return input.problems();
}

std::vector<std::string> texts(const std::vector<sim::Speculation>& speculations) {
    std::vector<std::string> all;
    for (const sim::Speculation& speculation : speculations) {
        all.push_back(text_of(speculation));
    }
    return all;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("chains run unrolled, trees packed and unrolled, unless ways are named", "[speculation_reader]") {
    const SpeculationAxis both = axis(R"("draft_tokens": [0, 2], "shapes": ["sglang:3,2,6"])");
    CHECK(texts(both.speculations) == Texts{"chain 0", "chain 2", "sglang 3,2,6, packed", "sglang 3,2,6, unrolled"});
    CHECK(both.asked_for == std::vector<int>{0, 1, 2, 3});
    const SpeculationAxis trees = axis(R"("shapes": ["binary:3"], "verification": "unrolled-chunk")");
    CHECK(texts(trees.speculations) == Texts{"chain 0", "binary 3, unrolled-chunk"});
    CHECK(trees.asked_for == std::vector<int>{1});  // plain decoding is there, but was not asked for
    const SpeculationAxis packed_chain = axis(R"("draft_tokens": 3, "verification": ["packed", "unrolled"])");
    CHECK(texts(packed_chain.speculations) == Texts{"chain 0", "chain 3, packed", "chain 3"});
}

TEST_CASE("a grid of best trees holds those with a node a level at least", "[speculation_reader]") {
    const SpeculationAxis grid = axis(
        R"("shapes": [{"optimal": {"nodes": [2, 8], "depth": {"from": 2, "to": 3}, "children": 4}}], "verification": "packed")");
    CHECK(texts(grid.speculations) ==
          Texts{"chain 0", "optimal 2,2,4, packed", "optimal 8,2,4, packed", "optimal 8,3,4, packed"});
}

TEST_CASE("shapes come as short forms, objects and names of the catalogue", "[speculation_reader]") {
    const SpeculationAxis shapes = axis(
        R"("shapes": ["widths:2,3", {"beams": {"beams": 2, "steps": 3}}, {"shape": "mamba-drafter-3-3-2-1"}], "verification": "packed")");
    REQUIRE(shapes.speculations.size() == 4);
    CHECK(shapes.speculations[3].label == "mamba-drafter-3-3-2-1");
    CHECK(sim::build_tree(shapes.speculations[3].shape, {}).nodes() == 3 + 9 + 18 + 18);
}

TEST_CASE("shapes that cannot be meant are named with their place", "[speculation_reader]") {
    using Catch::Matchers::Contains;
    CHECK_THAT(axis_problem(R"("shapes": ["widths:2,x"])"), Contains("shapes[0]"));
    CHECK_THAT(axis_problem(R"("shapes": ["parents:0,2"])"), Contains("cyclic"));
    CHECK_THAT(axis_problem(R"("shapes": ["sglang:2,2,50"])"), Contains("candidates"));
    CHECK_THAT(axis_problem(R"("shapes": ["binary:3", "binary:3"])"), Contains("twice"));
    CHECK_THAT(axis_problem(R"("shapes": ["no-such-tree"])"), Contains("no-such-tree"));
    CHECK_THAT(axis_problem(R"("draft_tokens": 3, "verification": "paked")"), Contains("did you mean \"packed\""));
    CHECK_THAT(axis_problem(R"("shapes": [{"optimal": {"nodes": 8, "depth": 3, "wide": 1}}])"), Contains("wide"));
    CHECK_THAT(axis_problem(R"("shapes": [{"optimal": {"nodes": 5000, "depth": 3}}])"), Contains("5000"));
    CHECK_THAT(axis_problem(R"("shapes": [])"), !Contains("no problem") && Contains("shapes"));
}

TEST_CASE("acceptance by rank stands alone or beside a chain's", "[speculation_reader]") {
    const auto read = [](const std::string& keys) {
        Input input(R"({"a": {)" + keys + "}}");
        AcceptanceChoice choice = read_acceptance(input.root.object("a"), input.descriptions);
        CHECK(input.problems().empty());
        return choice.acceptance;
    };
    const sim::DraftAcceptance alone = read(R"("per_rank": [0.6, 0.2])");
    CHECK(alone.siblings.ranks() == 2);
    CHECK(alone.chain.accept_length(2) == Approx(1.0 + 0.6 + 0.36));
    const sim::DraftAcceptance beside = read(R"("geometric": 0.8, "per_rank": [0.6, 0.2])");
    CHECK(beside.chain.accept_length(1) == Approx(1.8));
    const sim::DraftAcceptance measured =
        read(R"("geometric": 0.5, "measured": [{"shape": "branching:3,2", "accept_length": 2.4}])");
    REQUIRE(measured.measured.size() == 1);
    CHECK(measured.measured[0].tree.nodes() == 9);
}

TEST_CASE("acceptance by rank that is none, or given twice, is refused", "[speculation_reader]") {
    using Catch::Matchers::Contains;
    const auto problem = [](const std::string& keys) {
        Input input(R"({"a": {)" + keys + "}}");
        static_cast<void>(read_acceptance(input.root.object("a"), input.descriptions));
        return input.problems();
    };
    CHECK_THAT(problem(R"("per_rank": [0.8, 0.3])"), Contains("sum"));
    CHECK_THAT(problem(R"("per_rank": [-0.1])"), Contains("between 0 and 1"));
    CHECK_THAT(problem(R"("geometric": 0.8, "curve": {"1": 1.5})"), Contains("geometric and curve"));
    CHECK_THAT(problem(R"("per_position": [0.8, 0.9])"), Contains("must not increase along the chain"));
    CHECK_THAT(problem(R"("geometric": 0.5, "measured": [{"shape": "branching:3,2", "accept_length": 3.5}])"), Contains("3.5"));
}

}  // namespace speculation_reader_test
