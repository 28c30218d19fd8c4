// All-reduces, experts and prompts: do their laws give the times that their definitions say, by hand, and never less for more?
#include <catch2/catch.hpp>

#include <cmath>

#include "operation_time.h"
#include "setups.h"
#include "sim/layers/layers.h"
#include "sim/pass.h"

namespace own_laws_test {

using namespace treeline;
using namespace treeline::sim;
using testing::unit_rates;

namespace {

double time_of(const KernelLaw& law, const Operation& operation, const PassShape& shape) {
    return testing::time_of(operation, measured_rates(law, unit_rates(), operation), shape).value();
}

/// Of a tensor of `bytes` over so many ranks.
double all_reduce(const KernelLaw& law, double ranks, double bytes) {
    LayerContext context;
    context.ranks = ranks;
    context.precision.activations.format = NumberFormat::bf16;
    std::vector<Operation> operations;
    append_all_reduce(context, bytes / 2.0, operations);
    return time_of(law, operations.front(), {1.0, 1.0, 0.0, 1.0});
}

KernelLaw collective_law() {
    KernelLaw law;
    law.startup = Seconds(10.0);
    CollectiveLaw& of = law.collective;
    of.per_rank = Seconds(1.0);
    of.one_shot_share = 0.5;
    of.two_shot = Seconds(20.0);
    of.two_shot_share = 0.5;
    of.limit = Bytes(100.0);
    of.ring = Seconds(100.0);
    of.ring_per_rank = Seconds(2.0);
    of.ring_share = 1.0;
    of.ring_scale_4 = 0.5;
    of.ring_scale_8 = 0.25;
    return law;
}

Operation experts_of_four() {
    Operation experts;
    experts.kind = OperationKind::experts;
    experts.expert_count = 4.0;
    experts.expert_rows = 1.0;
    experts.log_miss = std::log1p(-0.25);
    experts.inputs = 3.0;
    experts.bytes.per_expert = Bytes(100.0);
    experts.bytes.per_token = Bytes(8.0);
    experts.flops.per_token = Flops(2.0);
    return experts;
}

Operation prompt_of_one_head() {
    Operation attention;
    attention.kind = OperationKind::attention;
    attention.reads_context = true;
    attention.cache_heads = 1.0;
    attention.rows_per_token = 2.0;
    attention.head_dim = 1.0;
    attention.flops.per_visible = Flops(2.0);  // one for each query head
    attention.bytes.per_token = Bytes(3.0);
    return attention;
}

KernelLaw prompt_law() {
    KernelLaw law;
    law.startup = Seconds(5.0);
    law.row_tile = 4.0;
    law.tile_columns = 1.0;
    law.workers = 2.0;
    law.overlap = 0.5;
    law.prompt.per_tile = Seconds(7.0);
    return law;
}

}  // namespace

TEST_CASE("an all-reduce takes the quickest of one shot, two shots and a ring") {
    const KernelLaw law = collective_law();
    // One shot: 10 + 1·3 + 3·4/0.5; two shots: 13 + 20 + 1.5·4/0.5.
    CHECK(all_reduce(law, 4.0, 4.0) == Approx(13.0 + 24.0));
    CHECK(all_reduce(law, 4.0, 40.0) == Approx(33.0 + 1.5 * 40.0 / 0.5));
    // Above the limit only the ring: 100 + 2·3 + 1.5·S at half the link's share over four ranks.
    CHECK(all_reduce(law, 4.0, 101.0) == Approx(106.0 + 1.5 * 101.0 / 0.5));
    CHECK(all_reduce(law, 2.0, 1000.0) == Approx(102.0 + 1000.0));
    CHECK(all_reduce(law, 6.0, 1000.0) == Approx(110.0 + 10.0 / 6.0 * 1000.0 / 0.375));
    CHECK(all_reduce(law, 8.0, 1000.0) == Approx(114.0 + 1.75 * 1000.0 / 0.25));
    KernelLaw by_ring = law;
    by_ring.collective.by_ring = 1.0;
    CHECK(all_reduce(by_ring, 4.0, 4.0) == Approx(13.0 + 1.5 * 4.0 / 0.5));
    for (const double ranks : {2.0, 3.0, 4.0, 8.0}) {
        double before = 0.0;
        for (double bytes = 1.0; bytes < 1e4; bytes *= 1.1) {
            const double time = all_reduce(law, ranks, bytes);
            CHECK(time >= before);
            before = time;
        }
    }
}

TEST_CASE("the fewer experts are touched, the sooner they start up") {
    KernelLaw law;
    law.startup = Seconds(50.0);
    law.launch = Seconds(10.0);
    law.ramp_bytes = Bytes(200.0);
    law.activation_share = 1.0;
    law.row_tile = 16.0;
    law.overlap = 0.0;
    const Operation experts = experts_of_four();
    // One token: 100 of the 200 bytes, half of the way from 10 to 50; a thousand: all 400.
    CHECK(time_of(law, experts, {1.0, 1.0, 0.0, 1.0}) == Approx(30.0 + 8.0 + 100.0));
    KernelLaw flat = law;
    flat.ramp_bytes = Bytes(0.0);
    CHECK(time_of(flat, experts, {1.0, 1.0, 0.0, 1.0}) == Approx(50.0 + 8.0 + 100.0));
    CHECK(time_of(law, experts, {1000.0, 1.0, 0.0, 1.0}) == Approx(time_of(flat, experts, {1000.0, 1.0, 0.0, 1.0})));
}

TEST_CASE("experts read those touched and compute whole tiles of their rows") {
    KernelLaw law;
    law.startup = Seconds(5.0);
    law.per_input = Seconds(1.0);
    law.activation_share = 0.5;
    law.row_tile = 16.0;
    law.overlap = 0.25;
    const Operation experts = experts_of_four();
    // One token: one expert, a tile of 16 rows of 2 FLOPs; 5 + 3 + 8/0.5 before both.
    CHECK(time_of(law, experts, {1.0, 1.0, 0.0, 1.0}) == Approx(24.0 + 100.0 + 0.25 * 32.0));
    // A thousand tokens touch all four; half a tile of each is empty: 1000 + 4·16 − 4·8.5 rows.
    const double rows = 1000.0 + 64.0 - 34.0;
    CHECK(time_of(law, experts, {1000.0, 1.0, 0.0, 1.0}) == Approx(8.0 + 16'000.0 + 2.0 * rows + 0.25 * 400.0));
    double before = 0.0;
    for (double tokens = 1.0; tokens < 4096.0; tokens += 1.0) {
        const double time = time_of(law, experts, {tokens, 1.0, 0.0, 1.0});
        CHECK(time >= before);
        before = time;
    }
}

TEST_CASE("a prompt takes its tiles shared out, and no less than its longest one") {
    KernelLaw law = prompt_law();
    const Operation attention = prompt_of_one_head();
    // Two heads of four tokens are two tiles of four rows, for two workers. A row sees 2.5 tokens in the mean, a tile 1.5 more,
    // the longest tile 4 and half a block; a column of a tile is 4 FLOPs at half of 1 FLOP/s.
    const double all = 2.0 * (7.0 + 8.0 * (2.5 + 1.5)) / 2.0, longest = 7.0 + 8.0 * 4.5;
    CHECK(time_of(law, attention, {1.0, 4.0, 0.0, 1.0}) == Approx(5.0 + longest + 0.5 * all + 12.0));
    law.ramp_bytes = Bytes(10.0);  // of the 12, ten are in the cache
    CHECK(time_of(law, attention, {1.0, 4.0, 0.0, 1.0}) == Approx(5.0 + longest + 0.5 * all + 2.0));
    law.per_head = Seconds(1.0);
    CHECK(time_of(law, attention, {1.0, 4.0, 0.0, 1.0}) == Approx(9.0 + longest + 0.5 * all + 2.0));
    Operation windowed = attention;
    windowed.reach.window = 8.0;
    double before = 0.0;
    for (double tokens = 1.0; tokens < 200.0; tokens += 1.0) {
        const double time = time_of(law, attention, {3.0, tokens, 0.0, 1.0});
        CHECK(time >= before);
        CHECK(time_of(law, windowed, {3.0, tokens, 0.0, 1.0}) > 0.0);
        before = time;
    }
}

TEST_CASE("the measured link alone has the law of all-reduces") {
    Platform platform = testing::platform("h100-sxm", "vllm", 8.0);
    platform.mode = CostMode::calibrated;
    REQUIRE(platform.device.calibration);
    LayerContext context;
    context.ranks = 8.0;
    std::vector<Operation> operations;
    append_all_reduce(context, 4096.0 * 128.0, operations);
    const auto microseconds = [&] {
        const Precision precision = uniform_precision(NumberFormat::bf16);
        const CompiledPass pass = compile_operations(operations, precision, platform, Seconds(0.0));
        return 1e6 * totals_of(pass, {1.0, 1.0, 0.0, 1.0}).device.value();
    };
    // A tensor of 1 MiB: 14.97 us in vLLM's table. Over PCIe the description's own figures count: 20 us and 1.75 MiB / 64 GB/s.
    CHECK(microseconds() == Approx(14.97).epsilon(0.15));
    platform.interconnect = "pcie";
    CHECK(microseconds() == Approx(20.0 + 1e6 * 1.75 * 1048576.0 / 64e9));
}

}  // namespace own_laws_test
