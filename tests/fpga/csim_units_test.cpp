// Does each unit of the C-simulation compute what it should? Against double precision, with bounds that follow from its
// roundings.
#include <cmath>
#include <map>

#include <catch2/catch.hpp>

#include "kernels/hls/layer_run.h"
#include "kernels/hls/state_controller.h"
#include "random_layer.h"

namespace csim_units_test {

using namespace treeline::kernels::accelerator;

namespace {

using S = GridShape;

double real(std::int64_t value) { return static_cast<double>(value); }

LayerPlan small_plan(std::vector<int> parents, int replayed = 0) {
    LayerPlan plan;
    plan.parents = std::move(parents);
    plan.replayed = replayed;
    plan.inputs = {8, 10};
    plan.gate_blocks = 5;
    plan.state_tiles = state_tiles_of<S>;
    return plan;
}

LayerDesign deep_design() {
    LayerDesign design;
    design.waiting_fifo = 64;
    design.passes = 2;
    return design;
}

/// Numbers within the formats: neither x nor the states are cut off.
LayerData<S> tame_layer(const LayerPlan& plan, unsigned seed) {
    LayerData<S> data = RandomLayer<S>(plan, seed).data;
    data.inputs.output_shift = 9;
    data.input_shift = 4;
    for (Decay& decay : data.decay) {
        decay = decay - 4000;
    }
    for (Input& x : data.cache_before) {
        x = x / 4;  // a step below 2 keeps step · x within 16 bits
    }
    return data;
}

/// The SSM unit's y and states in double precision, node by node from the definition, with a bound on what roundings add up to.
struct Reference {
    std::vector<double> state, bound;  ///< [node][channel][state]
    int nodes = 0, channels = 0;

    [[nodiscard]] std::size_t at(int node, int channel, int s) const {
        return static_cast<std::size_t>((node * channels + channel) * S::states + s);
    }
};

Input input_of(const LayerPlan& plan, const LayerData<S>& data, int node, int channel) {
    const int block = channel / S::tile_outputs, of_block = channel % S::tile_outputs;
    const bool again = node < plan.replayed;
    const int token = again ? data.accepted[static_cast<std::size_t>(node)] : node - plan.replayed;
    const auto at = static_cast<std::size_t>((block * S::most_tokens + token) * S::tile_outputs + of_block);
    return again ? data.cache_before[at] : data.cache_now[at];
}

double start_state(const LayerData<S>& before, int channel, int s) {
    const int element = channel % S::tile_outputs * S::states + s;
    const int tile = channel / S::tile_outputs * state_tiles_of<S> + element / S::lanes;
    return real(before.memory[static_cast<std::size_t>(tile)].h[element % S::lanes]);
}

Reference reference(const LayerPlan& plan, const LayerData<S>& before, const LayerData<S>& after) {
    Reference result;
    result.nodes = plan.replayed + static_cast<int>(plan.parents.size());
    result.channels = plan.inputs.blocks * S::tile_outputs;
    result.state.resize(static_cast<std::size_t>(result.nodes * result.channels * S::states));
    result.bound.resize(result.state.size());
    for (int node = 0; node < result.nodes; ++node) {
        const int parent =
            node < plan.replayed ? node - 1 : plan.parents[static_cast<std::size_t>(node - plan.replayed)] + plan.replayed;
        for (int channel = 0; channel < result.channels; ++channel) {
            const auto of_head =
                static_cast<std::size_t>(node * before.heads + channel / S::tile_outputs / before.blocks_per_head);
            const double decay = real(before.decay[of_head]) / 32768.0, step = real(before.step[of_head]) / 4096.0;
            for (int s = 0; s < S::states; ++s) {
                const double b =
                    real(before.b[static_cast<std::size_t>(node * S::states + s)]) * std::pow(2.0, before.input_shift - 15);
                const double old = parent < 0 ? start_state(before, channel, s) : result.state[result.at(parent, channel, s)];
                const double old_bound = parent < 0 ? 0.0 : result.bound[result.at(parent, channel, s)];
                result.state[result.at(node, channel, s)] = decay * old + step * real(input_of(plan, after, node, channel)) * b;
                // step · x is rounded to half a unit, so is the new state.
                result.bound[result.at(node, channel, s)] = decay * old_bound + 0.5 * std::abs(b) + 0.5;
            }
        }
    }
    return result;
}

}  // namespace

TEST_CASE("The Linear unit is exact: scale times INT4 times INT8, any order of passes", "[fpga]") {
    std::mt19937 random(1);
    for (const int tokens : {1, 16, 17, 32}) {
        const LayerPlan plan = small_plan(random_parents(tokens, random));
        LayerDesign design = deep_design();
        design.passes = (tokens + S::token_lanes - 1) / S::token_lanes;
        LayerData<S> data = RandomLayer<S>(plan, static_cast<unsigned>(tokens)).data;
        LayerRun<S>(plan, design, data).run();
        BlockOrder order(plan.inputs.blocks, plan.gate_blocks);
        int x_block = 0, gate_block = 0;
        for (int block = 0; block < plan.inputs.blocks + plan.gate_blocks; ++block) {
            for (int token = 0; token < tokens; ++token) {
                for (int out = 0; out < S::tile_outputs; ++out) {
                    double sum = 0.0;
                    for (int i = 0; i < plan.inputs.tiles * S::tile_inputs; ++i) {
                        const auto tile = static_cast<std::size_t>(block * plan.inputs.tiles + i / S::tile_inputs);
                        sum +=
                            real(data.inputs.weights[tile].weight[out][i % S::tile_inputs]) *
                            real(data.inputs.weights[tile].scale[out]) *
                            real(data.inputs.inputs[static_cast<std::size_t>(token * plan.inputs.tiles * S::tile_inputs + i)]);
                    }
                    if (order.to_ssm()) {
                        const double x = std::floor(sum / std::pow(2.0, data.inputs.output_shift) + 0.5);
                        const auto at = static_cast<std::size_t>((x_block * S::most_tokens + token) * S::tile_outputs + out);
                        CHECK(real(data.cache_now[at]) == std::min(32767.0, std::max(-32768.0, x)));
                    } else {
                        const auto at =
                            static_cast<std::size_t>((token * plan.gate_blocks + gate_block) * S::tile_outputs + out);
                        CHECK(real(data.inputs.sums[at]) == sum);
                    }
                }
            }
            ++(order.to_ssm() ? x_block : gate_block);
            order.next();
        }
        CHECK(gate_block == plan.gate_blocks);
    }
}

TEST_CASE("The SSM unit stays within its roundings of double precision on any tree, after any recomputed tokens", "[fpga]") {
    std::mt19937 random(2);
    for (int i = 0; i < 20; ++i) {
        const LayerPlan plan =
            small_plan(random_parents(1 + static_cast<int>(random() % 32), random), static_cast<int>(random() % 6));
        LayerDesign design = deep_design();
        design.interleaved = 1 + i % 2;
        const LayerData<S> before = tame_layer(plan, static_cast<unsigned>(i));
        LayerData<S> after = before;
        LayerRun<S>(plan, design, after).run();
        const Reference exact = reference(plan, before, after);
        double worst = 0.0;
        for (int node = plan.replayed; node < exact.nodes; ++node) {
            for (int channel = 0; channel < exact.channels; ++channel) {
                double y = 0.0, bound = 0.0;
                for (int s = 0; s < S::states; ++s) {
                    const double c = real(before.c[static_cast<std::size_t>(node * S::states + s)]);
                    REQUIRE(std::abs(exact.state[exact.at(node, channel, s)]) < 32000.0);
                    y += c * exact.state[exact.at(node, channel, s)];
                    bound += std::abs(c) * exact.bound[exact.at(node, channel, s)];
                }
                const double found = real(after.y[static_cast<std::size_t>((node - plan.replayed) * exact.channels + channel)]);
                worst = std::max(worst, std::abs(found - y) / bound);
            }
        }
        CHECK(worst <= 1.0);
        CHECK(worst > 0.01);  // the bound is not idle
    }
}

TEST_CASE("Interleaving, FIFO depth and the kind of memory change no bit", "[fpga]") {
    std::mt19937 random(4);
    const LayerPlan plan = small_plan(random_parents(24, random), 3);
    LayerData<S> one = RandomLayer<S>(plan, 8).data, two = one;
    LayerDesign design = deep_design();
    LayerRun<S>(plan, design, one).run();
    design.interleaved = 2;
    design.waiting_fifo = 7;
    design.rate_denominator = 3;
    LayerRun<S>(plan, design, two).run();
    CHECK(one.y == two.y);
    CHECK(one.cache_now == two.cache_now);
}

TEST_CASE("Hybrid backtracking: the state after recomputing is bit for bit that of the accepted tokens decoded in turn",
          "[fpga]") {
    // Round 1 verifies a tree; tokens 0, 2, 5 of it are accepted. Round 2 recomputes them before a tree of its own.
    const LayerPlan first = small_plan(binary_parents(15));
    const std::vector<int> accepted = {0, 2, 5};
    LayerData<S> data = RandomLayer<S>(first, 21).data;
    const std::vector<StateTile<S>> start = data.memory;
    LayerRun<S>(first, deep_design(), data).run();
    CHECK(std::equal(start.begin(), start.end(), data.memory.begin(),
                     [](const StateTile<S>& a, const StateTile<S>& b) { return std::equal(a.h, a.h + S::lanes, b.h); }));

    const LayerPlan second = small_plan(chain_parents(4), 3);
    LayerData<S> next = RandomLayer<S>(second, 22).data;
    SsmJob job;
    job.replayed = first.replayed;
    keep_accepted<S>(job, {data.decay.data(), data.step.data(), data.b.data(), data.c.data(), data.heads}, accepted.data(), 3,
                     {next.decay.data(), next.step.data(), next.b.data()});
    next.memory = data.memory;
    next.cache_before = data.cache_now;
    next.accepted = accepted;
    next.input_shift = data.input_shift;
    LayerRun<S>(second, deep_design(), next).run();

    for (int channel = 0; channel < first.inputs.blocks * S::tile_outputs; ++channel) {
        for (int s = 0; s < S::states; ++s) {
            const int element = channel % S::tile_outputs * S::states + s;
            const auto tile = static_cast<std::size_t>(channel / S::tile_outputs * state_tiles_of<S> + element / S::lanes);
            State h = start[tile].h[element % S::lanes];
            for (const int token : accepted) {
                const auto of_head =
                    static_cast<std::size_t>(token * data.heads + channel / S::tile_outputs / data.blocks_per_head);
                const Input u = scaled_input(data.step[of_head], input_of(first, data, token, channel));
                h = next_state(data.decay[of_head], h, u, data.b[static_cast<std::size_t>(token * S::states + s)],
                               data.input_shift);
            }
            CHECK(next.memory[tile].h[element % S::lanes] == h);
        }
    }
}

TEST_CASE("Special functions stay within two units of their last place", "[fpga]") {
    for (int v = -32768; v <= 32767; v += 7) {
        const double x = v / 256.0;
        // Sigmoid to 2^-15, interpolated over 1/32: curvature 0.097 · (1/32)^2 / 8 = 1.2e-5 at most.
        CHECK(std::abs(real(sigmoid(v)) / 32768.0 - 1.0 / (1.0 + std::exp(-x))) < 6e-4);
        CHECK(std::abs(real(silu(v)) - 256.0 * x / (1.0 + std::exp(-x))) < 0.5 + std::abs(v) * 6e-4);
        const double step = std::min(65535.0 / 4096.0, std::log1p(std::exp(-std::abs(x))) + std::max(x, 0.0));
        CHECK(std::abs(real(softplus(v)) / 4096.0 - step) < 6e-4);
    }
    for (int rate = 16; rate < 5000; rate += 97) {
        for (int step = 0; step < 20000; step += 331) {
            const double decay = std::exp(-rate / 256.0 * step / 4096.0);
            CHECK(std::abs(real(decay_of(rate, step)) / 32768.0 - decay) < 6e-4);
        }
    }
}

TEST_CASE("Fixed point rounds half up, saturates and wraps as formats.h says", "[fpga]") {
    CHECK(real(rounded_shift(5, 1)) == 3.0);    // 2.5 → 3
    CHECK(real(rounded_shift(-5, 1)) == -2.0);  // −2.5 → −2
    CHECK(real(rounded_shift(-6, 1)) == -3.0);
    CHECK(real(rounded_shift(7, 0)) == 7.0);
    CHECK(real(saturated(40000)) == 32767.0);
    CHECK(real(saturated(-40000)) == -32768.0);
    CHECK(real(ap_int<4>(9)) == -7.0);   // 9 − 16
    CHECK(real(ap_uint<6>(65)) == 1.0);  // 65 − 64
    CHECK(real(ap_int<40>(-3)) == -3.0);
    CHECK(real(next_state(32768, 1000, 0, 0, 0)) == 1000.0);  // a decay of 1 keeps the state
    CHECK(real(scaled_input(4096, -77)) == -77.0);            // a step of 1 keeps x
}

}  // namespace csim_units_test
