// The table of a stack's numbers: what each may be, and within what a fit looks for it.
#include <catch2/catch.hpp>

#include <cmath>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "sim/stack.h"
#include "sim/stack_parameters.h"

namespace stack_numbers_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

/// Between which each number of a stack may lie.
std::map<std::string_view, std::pair<double, double>> stack_ranges() {
    std::map<std::string_view, std::pair<double, double>> ranges;
    const auto between = [&](double low, double high, std::initializer_list<std::string_view> names) {
        for (const std::string_view name : names) {
            ranges[name] = {low, high};
        }
    };
    // No kernel and no layer takes the host 10 ms, no token and no sequence a second, no pass, round or tree ten.
    between(0.0, 0.01,
            {"host_launch",
             "node_cost",
             "graph_node_cost",
             "host_per_kernel",
             "eager_launch",
             "host_per_piece",
             "host_per_piecewise_layer",
             "host_per_draft_layer",
             "host_per_reshaped_layer",
             "host_per_verified_layer",
             "host_per_shared_layer",
             "per_sparse_token",
             "per_layer",
             "per_expert_layer",
             "per_delta_layer",
             "per_copied_delta_layer",
             "per_verified_delta_layer",
             "host_per_state_group",
             "scan_step",
             "kernel_startup"});
    between(0.0, 1.0,
            {"synchronous_per_sequence", "host_per_sequence", "host_per_tree_token", "host_per_unrolled_token",
             "host_per_grown_token", "host_per_verified_token", "host_per_draft_token", "host_per_emitted_token",
             "host_per_recurrent_round"});
    between(0.0, 10.0,
            {"host_per_pass", "host_per_draft_pass", "host_per_round", "host_per_rollback", "host_per_head_pass",
             "synchronous_per_round", "host_per_tree", "host_per_sampling"});
    between(
        0.0, 0.1,
        {"host_per_overlapped_pass", "host_per_overlapped_round", "host_per_overlapped_draft_pass", "host_per_delta_round"});
    between(0.0, 20.0, {"least_capability"});
    between(0.0, 1e-5, {"host_per_sampled_entry", "host_per_drafted_entry"});
    // Shares: of the whole at most; some are nothing without a part.
    between(0.0, 1e-4, {"fused_experts"});
    between(0.0, 1.0, {"recurrent_passes_apart", "unhidden"});
    between(0.0, 0.99, {"state_pool_share"});
    between(0.01, 1.0,
            {"memory_efficiency", "metal_memory_efficiency", "compute_efficiency", "shared_prefix_read", "memory_utilisation",
             "prompt_wait"});
    between(0.001, 1.0, {"vector_attention", "scan_efficiency", "attention_efficiency"});
    // Factors, counts and bytes.
    between(0.01, 1000.0,
            {"launch_factor", "graph_launch_factor", "calls_per_draft_layer", "calls_per_copy", "time_factor", "round_factor"});
    between(0.01, 100.0, {"replay_traffic"});
    between(0.1, 10.0, {"expert_speed", "fp4_read_speed"});
    between(0.001, 100.0, {"step_error"});
    between(0.0, 1000.0, {"pieces_per_draft_pass"});
    between(0.0, 10.0, {"committed_copies"});
    between(1.0, 100.0, {"state_slots"});
    between(1.0, 1e6, {"most_requests"});
    between(0.0, 1e11, {"memory_per_graph"});
    between(0.0, 1024.0, {"sparse_prompt_heads"});
    between(0.0, 256.0, {"score_traffic"});
    between(0.0, 64.0, {"score_bytes"});
    return ranges;
}

}  // namespace

TEST_CASE("every number of a stack is accepted at either limit, and refused beyond and where it is no number") {
    const auto ranges = stack_ranges();
    REQUIRE(ranges.size() == stack_parameters().size());
    for (const StackParameter& parameter : stack_parameters()) {
        INFO(parameter.name);
        REQUIRE(ranges.count(parameter.name) == 1);
        const auto [low, high] = ranges.at(parameter.name);
        const auto refused = [&](double value) {
            Stack stack;
            stack.name = stack.title = "test";
            parameter.set(stack, value);
            const std::string beginning = std::string(parameter.name) + " must lie between ";
            int sentences = 0;
            for (const std::string& problem : problems_of(stack)) {
                sentences += problem.find(beginning) == 0 ? 1 : 0;
            }
            return sentences;
        };
        CHECK(refused(low) == 0);
        CHECK(refused(high) == 0);
        CHECK(refused(high * 1.001) == 1);
        CHECK(refused(low > 0.0 && parameter.get(Stack{}) != 0.999 * low ? 0.999 * low : -1e-9) == 1);
        CHECK(refused(std::nan("")) == 1);
    }
}

TEST_CASE("a fit looks within what may be stated, from 10 ns to a second of time") {
    for (const StackParameter& parameter : stack_parameters()) {
        if (parameter.may_be_fitted()) {
            INFO(parameter.name);
            CHECK(parameter.fit_low >= parameter.low);
            CHECK(parameter.fit_low > 0.0);
            CHECK(parameter.fit_high <= parameter.high);
            CHECK(parameter.fit_high > parameter.fit_low);
            if (parameter.unit == StackUnit::seconds) {
                CHECK(parameter.fit_low == 1e-8);
                CHECK(parameter.fit_high <= 1.0);
            }
        }
    }
}

}  // namespace stack_numbers_test
