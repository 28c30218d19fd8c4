// Which numbers of a stack of one's own move an estimate?
#include "sim/stack_effects.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "setups.h"

namespace stack_effects_test {

using namespace treeline;
using namespace treeline::sim;
using Names = std::vector<std::string>;

TEST_CASE("numbers that nothing counts are named, and no others") {
    RoundSetup setup = testing::pair_setup("llama-3.1-8b", "llama-3.2-1b", testing::platform("l40s", "cuda-graph"));
    Stack& stack = setup.platform.stack;
    setup.speculations = chains_up_to(4);
    CHECK(numbers_without_effect(setup).empty());  // a stack of the catalogue
    stack.own_numbers = {"host_per_tree", "host_per_round", "memory_efficiency", "host_per_pass", "scan_step", "step_error"};
    CHECK(numbers_without_effect(setup) == Names{"host_per_tree", "scan_step"});  // chains, and no recurrent layer
    setup.speculations.push_back({BranchingShape{{2, 2}}, Verification::unrolled, "tree"});
    setup.acceptance.siblings = RankAcceptance({0.5, 0.2});
    CHECK(numbers_without_effect(setup) == Names{"scan_step"});
    setup.drafter = NoDrafter{};
    setup.speculations = chains_up_to(0);
    CHECK(numbers_without_effect(setup) == Names{"host_per_tree", "host_per_round", "scan_step"});
    // Of a number that does not hold here its condition tells.
    NumberCondition elsewhere;
    elsewhere.number = "scan_step";
    elsewhere.models = {"hybrid"};
    stack.conditions.push_back(elsewhere);
    CHECK(numbers_without_effect(setup) == Names{"host_per_tree", "host_per_round"});
}

TEST_CASE("numbers about prompts count where no prompt is stated") {
    RoundSetup setup = testing::pair_setup("llama-3.1-8b", "llama-3.2-1b", testing::platform("l40s", "cuda-graph"));
    setup.speculations = chains_up_to(2);
    setup.platform.stack.own_numbers = {"score_traffic"};
    CHECK(numbers_without_effect(setup).empty());
}

}  // namespace stack_effects_test
