// Which of a stack's numbers hold for a target on a device, what a host's speed scales, and what an engine refuses.
#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "sim/device.h"
#include "sim/model.h"
#include "sim/precision.h"
#include "sim/rollback/rollback.h"
#include "sim/stack.h"
#include "sim/stack_parameters.h"

namespace stack_where_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

Model model_of(const std::vector<BlockKind>& kinds) {
    Model model;
    for (const BlockKind& kind : kinds) {
        LayerKind layer;
        layer.blocks.push_back({kind});
        model.order.push_back(model.kinds.size());
        model.kinds.push_back(layer);
    }
    return model;
}

Model dense() { return model_of({Attention{}, Mlp{}}); }
Model mixture(bool shared) {
    MixtureOfExperts experts;
    experts.shared_hidden = shared ? 1 : 0;
    return model_of({Attention{}, experts});
}

Precision experts_in(NumberFormat format) {
    Precision precision = uniform_precision(NumberFormat::bf16);
    precision.experts = Storage{format};
    return precision;
}

const Precision bf16 = uniform_precision(NumberFormat::bf16);

Device hopper() {
    Device device;
    device.name = "h100-sxm";
    device.memory = Bytes(80e9);
    device.compute_capability = 9.0;
    return device;
}

/// Whether a number that holds under this condition alone is taken.
bool taken(const NumberCondition& condition, const Model& target, const Precision& precision, const Device& device) {
    Stack stack;
    stack.conditions = {condition};
    const bool taken = stack.unmet(target, precision, device).empty();
    CHECK(stack.holds_as_it_is(target, precision, device) == taken);
    return taken;
}

}  // namespace

TEST_CASE("a number holds for the kinds of models that it was measured of, or for all") {
    CHECK(taken({"host_per_tree", {}, {}}, dense(), bf16, hopper()));
    CHECK(taken({"host_per_tree", {"hybrid", "dense"}, {}}, dense(), bf16, hopper()));
    CHECK_FALSE(taken({"host_per_tree", {"dense"}, {}}, mixture(false), experts_in(NumberFormat::bf16), hopper()));
    CHECK(taken({"host_per_tree", {"mixture"}, {}}, mixture(false), experts_in(NumberFormat::bf16), hopper()));
}

TEST_CASE("a number does not hold on devices of the generations that run other kernels") {
    const NumberCondition condition{"host_per_tree", {}, {9.0, 12.0}};
    Device device = hopper();
    for (const auto& [capability, holds] : {std::pair{8.9, true}, {9.0, false}, {9.9, false}, {10.0, true}, {12.1, false}}) {
        device.compute_capability = capability;
        CHECK(taken(condition, dense(), bf16, device) == holds);
    }
    // Each of the two is enough to refuse it.
    device.compute_capability = 10.0;
    CHECK_FALSE(taken({"host_per_tree", {"hybrid"}, {9.0}}, dense(), bf16, device));
    CHECK_FALSE(taken({"host_per_tree", {"dense"}, {10.0}}, dense(), bf16, device));
}

TEST_CASE("a number of experts that are no plain ones, or of experts in fp4") {
    using enum NumberFormat;
    const NumberCondition not_plain{"host_per_tree", {}, {}, ConditionExperts::not_plain};
    CHECK_FALSE(taken(not_plain, mixture(false), experts_in(NumberFormat::bf16), hopper()));  // 16 bits, none shared
    CHECK_FALSE(taken(not_plain, mixture(false), experts_in(fp32), hopper()));
    CHECK(taken(not_plain, mixture(true), experts_in(NumberFormat::bf16), hopper()));
    CHECK(taken(not_plain, mixture(false), experts_in(fp8), hopper()));
    CHECK(taken(not_plain, mixture(true), experts_in(fp8), hopper()));
    const NumberCondition in_fp4{"host_per_tree", {}, {}, ConditionExperts::fp4};
    CHECK(taken(in_fp4, mixture(false), experts_in(fp4), hopper()));
    CHECK_FALSE(taken(in_fp4, mixture(false), experts_in(int4), hopper()));
    // Experts or the kind of model: either refuses alone.
    CHECK_FALSE(taken({"host_per_tree", {"mixture"}, {}, ConditionExperts::fp4}, mixture(false), experts_in(NumberFormat::bf16),
                      hopper()));
    CHECK_FALSE(taken({"host_per_tree", {"dense"}, {}, ConditionExperts::fp4}, mixture(false), experts_in(fp4), hopper()));
}

TEST_CASE("a number that does not hold is what it would be if nobody stated it") {
    Stack stack;
    stack.launching.node_cost = Seconds(2e-6);
    stack.launching.graph_node_cost = Seconds(7e-6);  // else it is node_cost
    stack_parameter("host_per_tree").set(stack, 5e-6);
    stack.conditions = {{"graph_node_cost", {"mixture"}, {}}, {"host_per_tree", {"mixture"}, {}}};
    const Stack here = stack.where(dense(), bf16, hopper());
    CHECK(here.launching.graph_node_cost == Seconds(2e-6));
    CHECK(stack_parameter("host_per_tree").get(here) == stack_parameter("host_per_tree").get(Stack{}));
    const Stack there = stack.where(mixture(false), bf16, hopper());
    CHECK(there.launching.graph_node_cost == Seconds(7e-6));
    CHECK(stack_parameter("host_per_tree").get(there) == 5e-6);
}

TEST_CASE("a slower host takes longer for what it does, where a stack says so, and for nothing else") {
    Stack stack;
    for (const StackParameter& parameter : stack_parameters()) {
        if (!std::isnan(parameter.get(stack))) {
            parameter.set(stack, 0.5 * parameter.high);
        }
    }
    const auto changed = [&](double speed) {
        const Stack there = stack.on_host(speed);
        std::vector<std::string> names;
        for (const StackParameter& parameter : stack_parameters()) {
            const double here = parameter.get(stack), now = parameter.get(there);
            if (std::isnan(here)) {
                CHECK(std::isnan(now));
            } else if (now != here) {
                CHECK(now == here / speed);
                names.emplace_back(parameter.name);
            }
        }
        return names;
    };
    CHECK(changed(0.5).empty());  // fitted on servers
    stack.scales_with_host = true;
    CHECK(changed(1.0).empty());
    std::vector<std::string> of_host;
    for (const StackParameter& parameter : stack_parameters()) {
        if (parameter.on_host && !std::isnan(parameter.get(stack))) {
            CHECK(parameter.unit == StackUnit::seconds);
            of_host.emplace_back(parameter.name);
        }
    }
    REQUIRE(of_host.size() > 10);
    CHECK(changed(0.5) == of_host);
    CHECK(changed(2.0) == of_host);

    Device device = hopper();
    for (const auto& [scales, speed, same] :
         {std::tuple{true, 1.0, true}, {true, 0.5, false}, {true, 2.0, false}, {false, 0.5, true}, {false, 1.0, true}}) {
        stack.scales_with_host = scales;
        device.host_speed = speed;
        CHECK(stack.holds_as_it_is(dense(), bf16, device) == same);
        CHECK((stack.where(dense(), bf16, device).launching.host_launch == stack.launching.host_launch) == same);
    }
}

TEST_CASE("prompts are read by default in chunks that follow the device's memory and name, unless a budget is stated") {
    Stack stack;
    stack.serving.prefill_tokens = 8192.0;
    stack.serving.prompt_chunks = {{Bytes(40e9), "", 2048.0}, {Bytes(100e9), "h100", 4096.0}};
    Device device = hopper();
    const auto tokens = [&] {
        const double chunk = stack.serving.prefill_tokens_on(device);
        CHECK(stack.where(dense(), bf16, device).serving.prefill_tokens == chunk);
        CHECK(stack.holds_as_it_is(dense(), bf16, device) == (chunk == 8192.0));
        return chunk;
    };
    CHECK(tokens() == 4096.0);
    device.name = "a100";
    CHECK(tokens() == 8192.0);
    device.memory = Bytes(39e9);
    CHECK(tokens() == 2048.0);
    device.memory = Bytes(40e9);  // not below it
    CHECK(tokens() == 8192.0);
    device = hopper();
    device.memory = Bytes(100e9);
    CHECK(tokens() == 8192.0);
    device = hopper();
    stack.serving.states_budget = true;
    CHECK(tokens() == 8192.0);
    device.memory = Bytes(39e9);
    CHECK(tokens() == 8192.0);
}

TEST_CASE("a drafter's captured passes cost the host nothing a kernel, and eager copies what single launches do") {
    Stack stack;
    stack.launching.host_launch = Seconds(1e-6);
    stack.launching.node_cost = Seconds(2e-6);
    stack.launching.launch_factor = 3.0;
    stack.launching.launch_factors = {{"norm", 4.0}};
    stack.launching.graph_node_cost = Seconds(5e-6);
    stack.launching.graph_launch_factor = 6.0;
    stack.launching.eager_launch = Seconds(7e-6);
    stack.launching.calls_per_copy = 8.0;
    stack.kernels.calibrated.emplace();
    const auto launching = [](const Stack& of) {
        return std::vector<double>{of.launching.host_launch.value() * 1e6, of.launching.node_cost.value() * 1e6,
                                   of.launching.launch_factor, static_cast<double>(of.launching.launch_factors.size()),
                                   of.kernels.calibrated ? 1.0 : 0.0};
    };
    const std::vector<double> as_it_is = launching(stack);
    CHECK(launching(stack.drafting()) == as_it_is);
    stack.launching.draft_graphs = true;
    CHECK(launching(stack.drafting()) == std::vector<double>{0.0, Seconds(5e-6).value() * 1e6, 6.0, 0.0, 0.0});
    for (const StateCopy copy : {StateCopy::in_graph, StateCopy::by_index}) {
        stack.launching.state_copy = copy;
        CHECK(launching(stack.copying()) == as_it_is);
    }
    stack.launching.state_copy = StateCopy::eager;
    CHECK(launching(stack.copying()) ==
          std::vector<double>{Seconds(7e-6).value() * 1e6, Seconds(2e-6).value() * 1e6, 8.0, 0.0, 0.0});
}

TEST_CASE("launches that are listed for an operation, some of them for kernels in Metal alone") {
    Launching launching;
    launching.launch_factors = {{"norm", 4.0, true}, {"norm", 5.0}, {"rotary", 6.0, true}};
    CHECK(launching.listed("norm", true) == 4.0);
    CHECK(launching.listed("norm", false) == 5.0);
    CHECK(launching.listed("rotary", true) == 6.0);
    CHECK_FALSE(launching.listed("rotary", false));
    CHECK_FALSE(launching.listed("scan", true));
}

TEST_CASE("which ways of verifying, shapes and rollbacks an engine has") {
    Stack stack;
    stack.name = "mine";
    stack.drafts.verifications.clear();
    const DraftTree chain = DraftTree::from_child_counts({1, 1}), tree = DraftTree::from_child_counts({2, 1});
    const auto verifies = [&](Verification verification, const DraftTree& of) {
        return stack.verification_problem(verification, of).empty();
    };
    CHECK(verifies(Verification::unrolled, chain));
    CHECK_FALSE(verifies(Verification::packed, chain));
    CHECK_FALSE(verifies(Verification::unrolled, tree));
    CHECK(stack.verification_problem(Verification::packed, tree) == "the stack 'mine' verifies chains only");
    stack.drafts.verifications = {Verification::packed};
    CHECK(verifies(Verification::unrolled, chain));
    CHECK(verifies(Verification::packed, chain));
    CHECK(verifies(Verification::packed, tree));
    CHECK(stack.verification_problem(Verification::unrolled, tree) == "the stack 'mine' has no verification 'unrolled'");

    const auto drafts = [&](DraftedTrees trees, const TreeShape& shape, const DraftTree& of) {
        stack.drafts.drafted_trees = trees;
        return stack.shape_problem(shape, of).empty();
    };
    for (const DraftedTrees trees : {DraftedTrees::any, DraftedTrees::none, DraftedTrees::sglang, DraftedTrees::tensorrt_llm}) {
        CHECK(drafts(trees, ChainShape{2}, chain));
        CHECK(drafts(trees, BeamShape{2, 2}, tree) == (trees == DraftedTrees::any));
        CHECK(drafts(trees, SglangShape{2, 2, 4}, tree) == (trees == DraftedTrees::any || trees == DraftedTrees::sglang));
        CHECK(drafts(trees, TensorRtShape{2, 2, 3}, tree) ==
              (trees == DraftedTrees::any || trees == DraftedTrees::tensorrt_llm));
    }

    stack.states.rollbacks = {};
    CHECK(stack.rollback_problem(Rollback::truncate).empty());
    CHECK(stack.rollback_problem(Rollback::ring) == "the stack 'mine' does not implement the rollback 'ring'");
    stack.states.rollbacks = {Rollback::snapshot, Rollback::replay};
    CHECK(stack.rollback_problem(Rollback::replay).empty());
    CHECK(stack.rollback_problem(Rollback::snapshot).empty());
    CHECK(stack.rollback_problem(Rollback::truncate).empty());
    CHECK(stack.rollback_problem(Rollback::ring) ==
          "the stack 'mine' does not implement the rollback 'ring' (it has snapshot, replay)");
}

TEST_CASE("rollbacks of a recurrent target are an engine's, those behind flags where flags are told, too") {
    const Model recurrent = model_of({Mamba2{}, Mlp{}});
    Stack stack;
    stack.states.rollbacks = {Rollback::truncate, Rollback::snapshot, Rollback::ring};
    CHECK(rollbacks_for(recurrent, stack, false) == std::vector<Rollback>{Rollback::snapshot, Rollback::ring});
    stack.states.rollback_flags[Rollback::ring] = "--ring";
    CHECK(rollbacks_for(recurrent, stack, false) == std::vector<Rollback>{Rollback::snapshot});
    CHECK(rollbacks_for(recurrent, stack, true) == std::vector<Rollback>{Rollback::snapshot, Rollback::ring});
    CHECK(rollbacks_for(dense(), stack, true) == std::vector<Rollback>{Rollback::truncate});
}

TEST_CASE("numbers that take the place of others count in calibrated mode, where they are stated") {
    Stack stack;
    stack.launching.launch_factor = 3.0;
    stack.kernels.kernel_startup = Seconds(1e-6);
    stack.kernels.expert_speed = 0.5;
    stack.kernels.linear_speed[1] = {0.25, 0.75};
    const auto numbers = [&](bool calibrated) {
        return std::vector<double>{stack.launches_per_operation(calibrated), stack.kernels.startup(calibrated).value(),
                                   stack.kernels.speed_of_experts(calibrated),
                                   stack.kernels.speed_of_linear(all_number_formats[1], calibrated).memory};
    };
    const std::vector<double> usual = {3.0, 1e-6, 0.5, 0.25};
    CHECK(numbers(false) == usual);
    CHECK(numbers(true) == usual);
    stack.kernels.calibrated.emplace();
    stack.kernels.calibrated->launch_factor = 7.0;
    stack.kernels.calibrated->kernel_startup = Seconds(2e-6);
    CHECK(numbers(false) == usual);
    // What it does not state is 1.
    CHECK(numbers(true) == std::vector<double>{7.0, 2e-6, 1.0, 1.0});
}

TEST_CASE("chunks of prompts hold a token at least, and unpacking an element takes up to a thousand operations") {
    const auto fits = [](double chunk, double unpacking) {
        Stack stack;
        stack.name = stack.title = "mine";
        stack.serving.prompt_chunks = {{Bytes(40e9), "", chunk}};
        RowCurve curve;
        curve.least_unpacking = unpacking;
        stack.kernels.row_curves = {curve};
        return problems_of(stack).empty();
    };
    CHECK(fits(1.0, 0.0));
    CHECK(fits(1.0, 1000.0));
    CHECK_FALSE(fits(0.99, 0.0));
    CHECK_FALSE(fits(1.0, 1001.0));
    CHECK_FALSE(fits(1.0, -0.01));
}

}  // namespace stack_where_test
