// Does no point of a box beat the box's bounds, whatever the model, mode and parallelism, and whatever laws price it?
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>

#include "setups.h"
#include "sim/round_bounds.h"

namespace round_bounds_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

using Figure = double (*)(const RoundEstimate&);
constexpr Figure figures[] = {[](const RoundEstimate& e) { return e.autoregressive.value(); },
                              [](const RoundEstimate& e) { return e.draft.value(); },
                              [](const RoundEstimate& e) { return e.verify.value(); },
                              [](const RoundEstimate& e) { return e.rollback.value(); },
                              [](const RoundEstimate& e) { return e.host.value(); },
                              [](const RoundEstimate& e) { return e.prompts.value(); },
                              [](const RoundEstimate& e) { return e.round.value(); },
                              [](const RoundEstimate& e) { return e.first_token.value(); },
                              [](const RoundEstimate& e) { return e.accept_length; },
                              [](const RoundEstimate& e) { return e.iteration_multiplier; },
                              [](const RoundEstimate& e) { return e.throughput_multiplier; },
                              [](const RoundEstimate& e) { return e.decode_share; },
                              [](const RoundEstimate& e) { return e.time_per_token.value(); },
                              [](const RoundEstimate& e) { return e.tokens_per_second_user; },
                              [](const RoundEstimate& e) { return e.tokens_per_second_device; },
                              [](const RoundEstimate& e) { return e.memory.value(); },
                              [](const RoundEstimate& e) { return e.energy_per_token.value(); },
                              [](const RoundEstimate& e) { return e.price_per_token.value(); },
                              [](const RoundEstimate& e) { return e.wasted_draft_share; }};

class Boxes {
public:
    explicit Boxes(unsigned seed) : random_(seed) {}

    double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
    /// As ratios; whole numbers half of the time.
    double between(double low, double high) {
        const double value = (low + 1.0) * std::pow((high + 1.0) / (low + 1.0), uniform(0.0, 1.0)) - 1.0;
        return uniform(0.0, 1.0) < 0.5 ? std::clamp(std::round(value), low, high) : std::clamp(value, low, high);
    }
    PointBox box() {
        PointBox box;
        box.least_batch = between(1.0, 2000.0);
        box.least_context = between(0.0, 60'000.0);
        const double wide = uniform(0.0, 1.0);  // some are points, some lines
        box.most_batch = wide < 0.2 ? box.least_batch : between(box.least_batch, std::min(4000.0, 4.0 * box.least_batch));
        box.most_context = wide > 0.1 && wide < 0.3 ? box.least_context : between(box.least_context, 120'000.0);
        return box;
    }
    DesignPoint point_of(int shape, const PointBox& box, int i) {
        const double batch = i % 3 == 0   ? box.least_batch
                             : i % 3 == 1 ? box.most_batch
                                          : between(box.least_batch, box.most_batch);
        const double context = i / 3 % 3 == 0   ? box.least_context
                               : i / 3 % 3 == 1 ? box.most_context
                                                : between(box.least_context, box.most_context);
        return {shape, batch, context};
    }

private:
    std::mt19937 random_;
};

struct Seen {
    std::size_t outside = 0;  ///< figures of points beyond the bounds of their box
    std::size_t falls = 0;    ///< points whose round takes less time than one of fewer sequences and less context
    double widest = 0.0;      ///< relative width of any figure in boxes of one point
};

Seen look(const CompiledRound& round, const std::vector<int>& shapes, unsigned seed, int boxes = 60) {
    Boxes random(seed);
    Seen seen;
    for (int i = 0; i < boxes; ++i) {
        const int shape = shapes[static_cast<std::size_t>(i) % shapes.size()];
        const PointBox box = random.box();
        const EstimateBounds bounds = bounds_of(round, shape, box);
        const Seconds at_corner = evaluate(round, {shape, box.least_batch, box.least_context}).round;
        for (int p = 0; p < 20; ++p) {
            const RoundEstimate e = evaluate(round, random.point_of(shape, box, p));
            for (std::size_t f = 0; f < std::size(figures); ++f) {
                const double value = figures[f](e);
                if (!(value >= figures[f](bounds.least) && value <= figures[f](bounds.most))) {
                    ++seen.outside;
                    UNSCOPED_INFO("figure " << f << ": " << value << " outside " << figures[f](bounds.least) << " to "
                                            << figures[f](bounds.most) << " at shape " << shape);
                }
            }
            seen.outside += (e.fits && !bounds.least.fits) || (!e.fits && bounds.most.fits) ? 1 : 0;
            seen.falls += e.round < at_corner ? 1 : 0;
        }
        const PointBox point{box.least_batch, box.least_batch, box.least_context, box.least_context};
        const EstimateBounds exact = bounds_of(round, shape, point);
        for (const Figure figure : figures) {
            const double width = figure(exact.most) - figure(exact.least);
            seen.widest = std::max(seen.widest, std::isfinite(figure(exact.most)) ? width / figure(exact.most) : 0.0);
        }
    }
    return seen;
}

/// A law in which whatever can make time fall as a pass grows is switched on at random.
KernelLaw random_law(Boxes& random) {
    KernelLaw law;
    law.startup = Seconds(random.uniform(0.0, 2e-5));
    law.launch = Seconds(random.uniform(0.0, 2e-5));  // above the startup: the ramp falls
    law.ramp_bytes = Bytes(random.uniform(0.0, 1.0) < 0.6 ? random.uniform(1e5, 1e9) : 0.0);
    law.bandwidth_share = random.uniform(0.2, 1.0);
    law.peak_share = random.uniform(0.05, 0.9);
    law.overlap = random.uniform(0.0, 1.0);
    law.per_head = Seconds(random.uniform(0.0, 1e-8));
    law.per_context = Seconds(random.uniform(0.0, 1e-9));
    const double kind = random.uniform(0.0, 1.0);
    if (kind < 0.45) {
        law.row_tile = 64.0 * std::round(random.uniform(1.0, 4.0));
        law.least_tile = random.uniform(0.0, 1.0) < 0.5 ? law.row_tile / 4.0 : 0.0;
        law.padding = random.uniform(1.0, 6.0);
        law.step_rows = random.uniform(0.0, 500.0);
        law.step_share = random.uniform(0.0, 1.0);
        law.tile_columns = random.uniform(0.0, 1.0) < 0.5 ? 128.0 : 0.0;
        law.workers = law.tile_columns > 0.0 ? 132.0 : 1.0;
    } else if (kind < 0.9) {
        law.first_row = random.uniform(1.0, 60.0);
        law.knots[0] = {random.uniform(4.0, 40.0), random.uniform(0.0, 0.8)};
        law.knots[1] = {law.knots[0].rows + random.uniform(10.0, 400.0), random.uniform(0.1, 1.5)};
        law.per_output = Seconds(random.uniform(0.0, 1e-11));
        law.workers = std::round(random.uniform(1.0, 96.0));
        law.step_rows = random.uniform(0.0, 300.0);
        law.step_share = random.uniform(0.0, 0.5);
    }
    return law;
}

}  // namespace

TEST_CASE("no point of a box beats its bounds in any mode, alone or beside prompts") {
    for (const CostMode mode : {CostMode::roofline, CostMode::calibrated, CostMode::hoi}) {
        for (const char* stack_name : {"vllm", "vllm-0.14", "sglang", "cuda-graph"}) {
            for (const double output_tokens : {0.0, 300.0}) {
                RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", stack_name));
                setup.platform.mode = mode;
                setup.prompt_tokens = output_tokens > 0.0 ? 1000.0 : 0.0;
                setup.output_tokens = output_tokens;
                setup.shared_prefix = 0.8 * setup.prompt_tokens;
                setup.platform.device.price = DollarsPerSecond(2.0 / 3600.0);
                INFO(name_of(mode) << " on " << stack_name << ", answers of " << output_tokens);
                const Seen seen = look(compile_round(setup), {0, 1, 4, 16}, 7);
                CHECK(seen.outside == 0);
                CHECK(seen.widest < 1e-9);
            }
        }
    }
}

TEST_CASE("where nothing falls as a pass grows the bounds are what one corner's times make of the other's tokens") {
    RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm"));
    setup.platform.device.price = DollarsPerSecond(2.0 / 3600.0);
    const CompiledRound round = compile_round(setup);
    constexpr double few = 3.0, many = 40.0;
    const EstimateBounds bounds = bounds_of(round, 4, {few, many, 500.0, 9000.0});
    const RoundEstimate low = evaluate(round, {4, few, 500.0}), high = evaluate(round, {4, many, 9000.0});
    const auto check = [](double least, double most, double expected_least, double expected_most) {
        CHECK(least == Approx(expected_least).epsilon(1e-9));
        CHECK(most == Approx(expected_most).epsilon(1e-9));
    };
    for (const std::size_t time : {0, 1, 2, 3, 4, 6, 12, 15}) {  // of steps, of rounds and their parts, per token; memory
        CAPTURE(time);
        check(figures[time](bounds.least), figures[time](bounds.most), figures[time](low), figures[time](high));
    }
    const double tokens = low.accept_length;
    check(bounds.least.tokens_per_second_user, bounds.most.tokens_per_second_user, high.tokens_per_second_user,
          low.tokens_per_second_user);
    check(bounds.least.tokens_per_second_device, bounds.most.tokens_per_second_device, few * tokens / high.round.value(),
          many * tokens / low.round.value());
    check(bounds.least.throughput_multiplier, bounds.most.throughput_multiplier, tokens * (low.autoregressive / high.round),
          tokens * (high.autoregressive / low.round));
    check(bounds.least.iteration_multiplier, bounds.most.iteration_multiplier, low.round / high.autoregressive,
          high.round / low.autoregressive);
    check(bounds.least.energy_per_token.value(), bounds.most.energy_per_token.value(),
          low.energy_per_token.value() * few / many, high.energy_per_token.value() * many / few);
    check(bounds.least.price_per_token.value(), bounds.most.price_per_token.value(), low.price_per_token.value() * few / many,
          high.price_per_token.value() * many / few);
    REQUIRE(high.energy_per_token.value() > 0.0);
}

TEST_CASE("no point beats its bounds where an engine's own all-reduce falls at its limit") {
    for (const char* link : {"pcie", "pcie-one-shot", "pcie-vllm-8-rows", "pcie-vllm"}) {
        RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("rtx-pro-6000", "vllm", 8.0));
        setup.platform.interconnect = link;
        INFO(link);
        CHECK(look(compile_round(setup), {0, 1, 4, 16}, 13).outside == 0);
    }
}

TEST_CASE("no point beats its bounds where one block walks along a cache") {
    for (const CostMode mode : {CostMode::roofline, CostMode::calibrated}) {
        RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "sglang"));
        setup.platform.mode = mode;
        AttentionKernels& kernels = setup.platform.stack.picked.attention_kernels;
        kernels.name = kernels.title = "mine";
        kernels.decode_walk = Seconds(7e-9);
        kernels.verify_walk = Seconds(45e-9);
        kernels.row_tile = mode == CostMode::roofline ? 0.0 : 4.0;
        INFO(name_of(mode));
        CHECK(look(compile_round(setup), {0, 1, 4, 16}, 13).outside == 0);
    }
}

TEST_CASE("no point beats its bounds for mixtures, windows, latent attention, recurrent models and all parallelism") {
    for (const char* target : {"mixtral-8x7b", "gpt-oss-120b", "deepseek-v3", "llama-4-scout", "mamba2-2.7b", "jamba-1.5-mini",
                               "nemotron-3-nano-30b-a3b"}) {
        for (const double stages : {1.0, 2.0}) {
            for (const double groups : {1.0, 4.0}) {
                RoundSetup setup = pair_setup(target, target, platform("h100-sxm", "vllm", 2.0));
                setup.drafter = NgramDrafter{};
                setup.platform.parallel.data = groups;
                setup.platform.parallel.pipeline = stages;
                setup.platform.mode = CostMode::calibrated;
                setup.prompt_tokens = stages > 1.0 ? 500.0 : 0.0;
                setup.output_tokens = stages > 1.0 ? 200.0 : 0.0;
                INFO(target << ", " << stages << " stages, " << groups << " groups");
                CHECK(look(compile_round(setup), {0, 1, 5, 9}, 11, 40).outside == 0);
            }
        }
    }
}

TEST_CASE("laws that fall as rows grow are bounded all the same") {
    Boxes random(23);
    std::size_t falls = 0;
    for (int trial = 0; trial < 60; ++trial) {
        RoundSetup setup = pair_setup(trial % 3 == 0 ? "mixtral-8x7b" : "llama-3-8b", "llama-3.2-1b",
                                      platform("h100-sxm", "vllm", trial % 3 == 0 ? 4.0 : 1.0));
        if (trial % 3 == 0) {
            setup.drafter = NgramDrafter{};
        }
        setup.platform.mode = CostMode::calibrated;
        Calibration calibration{"h100-sxm", "", "", {}};
        for (const KernelClass kernel : {KernelClass::gemm, KernelClass::attention, KernelClass::norm, KernelClass::activation,
                                         KernelClass::experts, KernelClass::sampling}) {
            calibration.kernels.push_back({kernel, NumberFormat::bf16, random_law(random)});
        }
        setup.platform.device.calibration = calibration;
        INFO("trial " << trial);
        const Seen seen = look(compile_round(setup), {0, 2, 7}, 100U + static_cast<unsigned>(trial));
        CHECK(seen.outside == 0);
        falls += seen.falls;
    }
    CHECK(falls > 100);  // of 72,000 points: corners alone would be no bounds
}

TEST_CASE("a start that shortens as bytes grow lies within its bounds, as does a curve of rows, with room for roundings") {
    Platform where = platform("h100-sxm", "ideal");
    where.mode = CostMode::calibrated;
    const auto by_law = [&](KernelClass kernel, const KernelLaw& law, std::vector<Operation> operations) {
        where.device.calibration = Calibration{"h100-sxm", "", "", {{kernel, NumberFormat::bf16, law}}};
        return compile_operations(std::move(operations), uniform_precision(NumberFormat::bf16), where, {});
    };
    // 30 us of a tiny kernel shrink to 5 us at a megabyte, which ten sequences have.
    KernelLaw shrinking;
    shrinking.launch = Seconds(30e-6);
    shrinking.startup = Seconds(5e-6);
    shrinking.ramp_bytes = Bytes(1e6);
    Operation element_wise;
    element_wise.name = "layers: small";
    element_wise.kind = OperationKind::element_wise;
    element_wise.bytes.per_token = Bytes(1e5);
    const CompiledPass by_start = by_law(KernelClass::element_wise, shrinking, {element_wise});
    REQUIRE(by_start.operations.front().rates.ramp < Seconds(0.0));
    const PassBounds bounds = bounds_of(by_start, {1.0}, {20.0});
    for (double sequences = 1.0; sequences <= 20.0; ++sequences) {
        const Seconds device = totals_of(by_start, {sequences}).device;
        CHECK(device >= bounds.least.device);
        CHECK(device <= bounds.most.device);
    }
    CHECK(totals_of(by_start, {20.0}).device < totals_of(by_start, {1.0}).device);
    KernelLaw curve;
    curve.first_row = 3.0;
    curve.knots[0] = {8.0, 0.5};
    Operation linear;
    linear.name = "layers: projection";
    linear.flops.per_token = Flops(1e9);
    linear.bytes.fixed = Bytes(1e6);
    const CompiledPass by_rows = by_law(KernelClass::gemm, curve, {linear});
    REQUIRE(std::holds_alternative<RowCosts>(by_rows.operations.front().rates.rule));
    const PassBounds of_rows = bounds_of(by_rows, {5.0}, {5.0});
    const Seconds exact = totals_of(by_rows, {5.0}).device;
    CHECK(of_rows.least.device < exact);
    CHECK(of_rows.most.device > exact);
    CHECK(of_rows.most.device / of_rows.least.device < 1.0 + 1e-9);
    CHECK(of_rows.least.flops < Flops(5e9));
    CHECK(of_rows.most.flops > Flops(5e9));
    CHECK(of_rows.least.bytes < Bytes(1e6));
    CHECK(of_rows.most.bytes > Bytes(1e6));
}

TEST_CASE("where sums are put together in another order than for a point its bounds leave room for roundings on both sides") {
    RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm", 2.0));
    setup.platform.device.price = DollarsPerSecond(2.0 / 3600.0);
    const auto check_room = [&](double stages, double output_tokens, const std::vector<std::size_t>& room,
                                const std::vector<std::size_t>& exact) {
        setup.platform.parallel.pipeline = stages;
        setup.prompt_tokens = output_tokens > 0.0 ? 900.0 : 0.0;
        setup.output_tokens = output_tokens;
        const CompiledRound round = compile_round(setup);
        const RoundEstimate e = evaluate(round, {3, 7.0, 1000.0});
        const EstimateBounds bounds = bounds_of(round, 3, {7.0, 7.0, 1000.0, 1000.0});
        CAPTURE(stages, output_tokens);
        for (const std::size_t figure : room) {
            CAPTURE(figure);
            CHECK(figures[figure](bounds.least) < figures[figure](e));
            CHECK(figures[figure](bounds.most) > figures[figure](e));
            CHECK(figures[figure](bounds.most) == Approx(figures[figure](bounds.least)).epsilon(1e-10));
        }
        for (const std::size_t figure : exact) {
            CAPTURE(figure);
            CHECK(figures[figure](bounds.least) == figures[figure](e));
            CHECK(figures[figure](bounds.most) == figures[figure](e));
        }
    };
    // Energy always; a pipeline's verification and all that follows from its round; beside prompts what the device is busy.
    check_room(1.0, 0.0, {16}, {0, 1, 2, 3, 4, 5, 6, 11, 15});
    check_room(2.0, 0.0, {2, 6, 9, 10, 12, 13, 14, 16, 17}, {0, 1, 3, 4, 5, 11, 15});
    check_room(1.0, 200.0, {7, 11, 14, 16, 17}, {0, 1, 2, 3, 4, 15});
    check_room(2.0, 200.0, {2, 6, 7, 10, 11, 12, 13, 14, 16, 17}, {0, 1, 3, 4, 15});
}

TEST_CASE("beside prompts each bound takes the fewer or more of them at its own end of the box") {
    RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm"));
    setup.platform.device.price = DollarsPerSecond(2.0 / 3600.0);
    setup.prompt_tokens = 900.0;
    setup.output_tokens = 200.0;
    const CompiledRound round = compile_round(setup);
    constexpr double few = 3.0, many = 40.0;
    const EstimateBounds bounds = bounds_of(round, 4, {few, many, 500.0, 9000.0});
    const RoundEstimate low = evaluate(round, {4, few, 500.0}), high = evaluate(round, {4, many, 9000.0});
    const double kept = round.row(4).kept_length();
    const double target = round.prompts.target.value(), prompt = target + round.prompts.drafter.value();
    const auto others = [&](double requests) { return round.prompt_wait * (requests - 1.0); };
    const auto decoding = [](const RoundEstimate& e) { return (e.draft + e.verify + e.rollback + e.host).value(); };
    const auto busy = [&](const RoundEstimate& e, double requests) {
        return e.round.value() + prompt * kept * (requests - others(requests));
    };
    const auto check = [](double value, double expected) { CHECK(value == Approx(expected).epsilon(1e-9)); };
    check(bounds.least.decode_share, decoding(low) / busy(high, many));
    check(bounds.most.decode_share, decoding(high) / busy(low, few));
    check(bounds.least.tokens_per_second_device, few * kept / busy(high, many));
    check(bounds.most.tokens_per_second_device, many * kept / busy(low, few));
    check(bounds.least.price_per_token.value(), round.price.value() * busy(low, few) / (many * kept));
    check(bounds.most.price_per_token.value(), round.price.value() * busy(high, many) / (few * kept));
    check(bounds.least.first_token.value(), prompt * 200.0 * (few - others(few)) + low.round.value());
    check(bounds.most.first_token.value(), prompt * 200.0 * (many - others(many)) + high.round.value());
    const double low_step = low.autoregressive.value() + target * others(few);
    const double high_step = high.autoregressive.value() + target * others(many);
    check(bounds.least.throughput_multiplier, kept / (high.round.value() / low_step));
    check(bounds.most.throughput_multiplier, kept / (low.round.value() / high_step));
    const double share = kept / low.accept_length;  // of what rounds yield
    check(bounds.least.iteration_multiplier, decoding(low) / ((high_step - prompt * others(few)) * share));
    const double left = low_step - prompt * others(many);
    if (left > 0.0) {
        check(bounds.most.iteration_multiplier, decoding(high) / (left * share));
    } else {
        CHECK(bounds.most.iteration_multiplier == unlimited);
    }
}

}  // namespace round_bounds_test
