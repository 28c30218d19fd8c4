// What a recommendation's interval is made of.
#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

#include "recommend_workloads.h"
#include "setups.h"
#include "sweeps/recommend.h"
#include "sweeps/uncertainty.h"

namespace recommend_interval_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

TEST_CASE("drafts beyond the measured positions widen the interval") {
    sim::RoundSetup setup = llama_workload().variants.back().setup;
    const Traffic traffic = single_point(1.0, 1024.0);
    setup.speculations = sim::chains_up_to(6);
    setup.acceptance = sim::Acceptance::per_position({0.8, 0.62, 0.5});
    const GainInterval measured = gain_interval(setup, 3, traffic, Objective::latency);
    const GainInterval beyond = gain_interval(setup, 6, traffic, Objective::latency);
    CHECK((beyond.high - beyond.low) / beyond.value > 1.3 * (measured.high - measured.low) / measured.value);
    const auto named = std::find_if(beyond.inputs.begin(), beyond.inputs.end(),
                                    [](const Sensitivity& input) { return input.input == "acceptance"; });
    REQUIRE(named != beyond.inputs.end());
    // The low end: every rate lower by the spread, those beyond the third also as the steepest curves are.
    sim::RoundSetup low = setup;
    low.acceptance = setup.acceptance.moved(-1.0);
    const sim::RoundEstimate six = sim::evaluate(sim::compile_round(low), {6, 1.0, 1024.0});
    CHECK(named->low == Approx(six.autoregressive.value() / six.round.value() * low.acceptance.chain.accept_length(6)));
}

TEST_CASE("the range of the bandwidth is one of shares of the peak, whatever share the stack states") {
    const Workload workload = llama_workload();
    sim::RoundSetup setup = workload.variants.front().setup;
    const auto ends = [&] {
        const GainInterval interval = gain_interval(setup, 4, workload.traffic, Objective::latency);
        for (const Sensitivity& input : interval.inputs) {
            if (input.input == "memory bandwidth reached") {
                return std::pair{input.low, input.high};
            }
        }
        return std::pair{0.0, 0.0};
    };
    const auto [low, high] = ends();
    for (const double stated : {0.74, 0.88, 1.0}) {
        setup.platform.stack.kernels.memory_efficiency = stated;
        CHECK(ends().first == Approx(low).epsilon(1e-12));
        CHECK(ends().second == Approx(high).epsilon(1e-12));
    }
    // 60 % lies below the range: its middle is 84.5 %, so the ends are 60 · 95 / 84.5 and 60 · 74 / 84.5 %.
    setup.platform.stack.kernels.memory_efficiency = 0.6;
    const auto [slow_low, slow_high] = ends();
    std::vector<double> speedups;
    for (const double share : {0.6 * 0.95 / 0.845, 0.6 * 0.74 / 0.845}) {
        sim::RoundSetup at_end = setup;
        at_end.platform.stack.kernels.memory_efficiency = share;
        speedups.push_back(gain_interval(at_end, 4, workload.traffic, Objective::latency).value);
    }
    CHECK(std::min(speedups[0], speedups[1]) == Approx(slow_low));
    CHECK(std::max(speedups[0], speedups[1]) == Approx(slow_high));
}

TEST_CASE("the range of launch and host time is that of a stack whose times are all halved or doubled") {
    sim::RoundSetup setup = llama_workload().variants.front().setup;
    setup.speculations = {{sim::ChainShape{0}, sim::Verification::unrolled, "plain"},
                          {sim::BinaryShape{4}, sim::Verification::packed, "binary 4"}};
    setup.acceptance.siblings = sim::RankAcceptance({0.6, 0.15});
    setup.platform.stack.host[sim::HostDriver::tree] = Seconds(1e-3);          // far above what the stack states, so that
    setup.platform.stack.host[sim::HostDriver::draft_token] = Seconds(20e-6);  // neither can be missed
    const Traffic traffic = single_point(4.0, 1024.0);

    const auto gain_at = [&](double factor) {
        sim::RoundSetup scaled = setup;
        sim::Stack& stack = scaled.platform.stack;
        for (Seconds* time :
             {&stack.launching.host_launch, &stack.launching.node_cost, &stack.launching.graph_node_cost,
              &stack.passes.host_per_pass, &stack.passes.host_per_draft_pass, &stack.host[sim::HostDriver::sequence],
              &stack.host[sim::HostDriver::token], &stack.host[sim::HostDriver::round], &stack.passes.host_per_rollback,
              &stack.host[sim::HostDriver::tree], &stack.host[sim::HostDriver::draft_token], &stack.passes.host_per_sampling,
              &stack.launching.eager_launch}) {
            *time *= factor;
        }
        return gain_interval(scaled, 1, traffic, Objective::latency).value;
    };
    const GainInterval interval = gain_interval(setup, 1, traffic, Objective::latency);
    const auto software = std::find_if(interval.inputs.begin(), interval.inputs.end(),
                                       [](const Sensitivity& input) { return input.input == "launch and host time"; });
    REQUIRE(software != interval.inputs.end());
    CHECK(software->high == Approx(gain_at(0.5)).epsilon(1e-9));
    CHECK(software->low == Approx(gain_at(2.0)).epsilon(1e-9));
}

TEST_CASE("the interval contains what an input does alone and names the strongest first") {
    const Workload workload = llama_workload();
    const GainInterval interval = gain_interval(workload.variants.front().setup, 4, workload.traffic, Objective::latency);
    CHECK(interval.low < interval.value);
    CHECK(interval.high > interval.value);
    REQUIRE(interval.inputs.size() == 5);
    for (std::size_t i = 0; i < interval.inputs.size(); ++i) {
        const Sensitivity& input = interval.inputs[i];
        CHECK(interval.low <= input.low + 1e-12);
        CHECK(interval.high >= input.high - 1e-12);
        if (i > 0) {
            const Sensitivity& before = interval.inputs[i - 1];
            CHECK(before.high - before.low >= input.high - input.low);
        }
    }
    CHECK(gain_interval(workload.variants.front().setup, 0, workload.traffic, Objective::latency).value == 1.0);
}

}  // namespace recommend_interval_test
