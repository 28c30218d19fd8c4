// What a pass's operations are bound by and named, what HOI mode counts of them, and how tokens are picked, with round numbers.
#include <catch2/catch.hpp>

#include <algorithm>

#include "sim/pass.h"

namespace pass_parts_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

/// A second for each byte and each FLOP, so that all times are exact.
Platform unit_platform(CostMode mode = CostMode::roofline) {
    Platform platform;
    platform.mode = mode;
    platform.device.name = "unit";
    platform.device.bandwidth = BytesPerSecond(1.0);
    platform.device.peak.fill(FlopsPerSecond(1.0));
    platform.stack.kernels.kernel_startup = Seconds(0.0);
    platform.stack.launching = {};
    return platform;
}

Operation work(double bytes, double flops) {
    Operation operation;
    operation.name = "layer: work";
    operation.kind = OperationKind::element_wise;
    operation.bytes.per_token = Bytes(bytes);
    operation.flops.per_token = Flops(flops);
    return operation;
}

const Precision& bf16() {
    static const Precision precision = checkpoint_precision(NumberFormat::bf16, NumberFormat::bf16);
    return precision;
}

CompiledPass compiled(std::vector<Operation> operations, const Platform& platform) {
    return compile_operations(std::move(operations), bf16(), platform, {});
}

}  // namespace

TEST_CASE("a launch is what the gap before a kernel and its start take; of equally long sides computing is said") {
    Platform platform = unit_platform();
    const auto bound = [&](double gap, double startup, double bytes, double flops) {
        platform.stack.launching.node_cost = Seconds(gap);
        platform.stack.kernels.kernel_startup = Seconds(startup);
        return explain(compiled({work(bytes, flops)}, platform), {}).front().bound;
    };
    CHECK(bound(3.0, 2.0, 4.0, 2.0) == Bound::launch);
    CHECK(bound(2.0, 3.0, 4.0, 2.0) == Bound::launch);
    CHECK(bound(2.0, 1.0, 4.0, 2.0) == Bound::memory);
    CHECK(bound(2.0, 1.0, 2.0, 4.0) == Bound::compute);
    CHECK(bound(0.0, 0.0, 4.0, 4.0) == Bound::compute);
    CHECK(bound(4.0, 0.0, 2.0, 4.0) == Bound::compute);
    CHECK(bound(4.0, 0.0, 4.0, 2.0) == Bound::memory);
}

TEST_CASE("shares of a pass's operations sum to one, by the time of all their runs") {
    std::vector<Operation> operations = {work(3.0, 1.0), work(1.0, 1.0)};
    operations[1].count = 5.0;
    const CompiledPass pass = compiled(operations, unit_platform());
    const std::vector<OperationEstimate> explained = explain(pass, {2.0});
    REQUIRE(explained.size() == 2);
    CHECK(explained[0].time == Seconds(6.0));
    CHECK(explained[1].time == Seconds(10.0));
    CHECK(explained[0].bytes == Bytes(6.0));
    CHECK(explained[1].bytes == Bytes(10.0));
    CHECK(explained[0].flops == Flops(2.0));
    CHECK(explained[1].flops == Flops(10.0));
    CHECK(explained[0].share == 0.375);
    CHECK(explained[1].share == 0.625);
    const std::vector<OperationEstimate> nothing = explain(compiled({work(0.0, 0.0)}, unit_platform()), {});
    CHECK(nothing.front().share == 0.0);
}

TEST_CASE("a token is picked, several are, or drafts are rejected, each by a kernel of its own") {
    CHECK_FALSE(sampling_operation(1000.0, Sampling::greedy).kernel);
    CHECK(sampling_operation(1000.0, Sampling::top).kernel == KernelClass::top_choices);
    const Operation rejection = sampling_operation(1000.0, Sampling::rejection);
    CHECK(rejection.kernel == KernelClass::rejection);
    CHECK(rejection.items.per_sequence == 1.0);
    CHECK(rejection.items.per_row == 0.0);
}

TEST_CASE("HOI mode counts weights, states and caches, and nothing that moves for each token") {
    Mamba2 mamba;
    mamba.heads = 4;
    mamba.head_dim = 3;
    mamba.state = 5;
    mamba.groups = 2;
    Attention attention;
    attention.query_heads = 4;
    attention.kv_heads = 2;
    attention.head_dim = 8;
    Model model;
    model.width = 7;
    model.vocabulary_size = 100;
    model.kinds = {{"mamba", {{mamba}}, 0, Residence::device}, {"attention", {{attention}}, 0, Residence::device}};
    model.order = {0, 1, 0, 1, 0};
    const CompiledPass pass = compile_pass(model, bf16(), unit_platform(CostMode::hoi), {});
    const auto bytes = [&](double sequences, double tokens, double context) {
        return totals_of(pass, {sequences, tokens, context, tokens}).bytes.value();
    };
    const double weights = 2.0 * static_cast<double>(body_parameters(model));
    const double states = 3 * 2 * (4.0 * 4 * 3 * 5);  // three, read and written, in fp32
    const double caches = 2 * 2.0 * 2 * (8 + 8);      // two layers, of a token
    CHECK(bytes(1.0, 1.0, 0.0) == Approx(weights + states));
    CHECK(bytes(3.0, 1.0, 0.0) == Approx(weights + 3 * states));
    CHECK(bytes(3.0, 4.0, 0.0) == Approx(weights + 3 * states));
    CHECK(bytes(3.0, 4.0, 10.0) == Approx(weights + 3 * (states + 10 * caches)));
    CHECK(totals_of(pass, {3.0, 4.0, 10.0, 4.0}).flops.value() ==
          Approx(12 * 2.0 * static_cast<double>(active_body_parameters(model))));
    // A byte takes as long as `intensity` FLOPs do; the longer of both is the pass.
    Platform slow = unit_platform(CostMode::hoi);
    slow.device.operational_intensity = FlopsPerByte(8.0);
    const CompiledPass weighted = compile_pass(model, bf16(), slow, {});
    CHECK(pass_time(weighted, totals_of(weighted, {1.0, 1.0, 0.0, 1.0})).value() == Approx(8 * (weights + states)));
    CHECK(pass_time(weighted, totals_of(weighted, {1.0, 1000.0, 0.0, 1.0})).value() ==
          Approx(1000 * 2.0 * static_cast<double>(active_body_parameters(model))));
}

TEST_CASE("a pipeline hands a token's activations on once for each stage, each rank its part") {
    Model model;
    model.width = 6;
    model.vocabulary_size = 100;
    model.kinds = {{"layer", {{Mlp{5}}}, 0, Residence::device}};
    model.order = {0, 0};
    Platform platform = unit_platform();
    platform.device.interconnects = {{"link", BytesPerSecond(1.0), {}, 0.0, ""}};
    platform.ranks = 3.0;
    const auto hops = [&](double stages) {
        platform.parallel.pipeline = stages;
        std::vector<OperationEstimate> found;
        for (const OperationEstimate& each : explain(compile_pass(model, bf16(), platform, {}), {2.0})) {
            if (each.name.starts_with("pipeline")) {
                found.push_back(each);
            }
        }
        return found;
    };
    CHECK(hops(1.0).empty());
    REQUIRE(hops(2.0).size() == 1);
    CHECK(hops(2.0).front().count == 2.0);
    CHECK(hops(2.0).front().bytes == Bytes(2 * 2 * 2.0 * 6 / 3));  // twice two tokens
}

}  // namespace pass_parts_test
