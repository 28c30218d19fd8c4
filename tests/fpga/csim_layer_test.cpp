// Does a whole layer of the C-simulation — norm, projections, convolution, tree scan, gated norm — compute a Mamba-2 layer?
// Against the layer in double precision with the same weights; what remains is the rounding of activations, B and C.
#include <cmath>

#include <catch2/catch.hpp>

#include "kernels/hls/layer_run.h"
#include "random_layer.h"

namespace csim_layer_test {

using namespace treeline::kernels::accelerator;

namespace {

using S = GridShape;
constexpr int width = 16, inner = 32, heads = 2, conv_reach = convolution_width - 1;
constexpr int coefficient_columns = 2 * S::states + heads;
/// Sums become values of 8 fraction bits by this shift; with activations of 4 fraction bits it fixes the unit of the weights.
constexpr int output_shift = 5, input_shift = 12;
const double weight_unit = std::pow(2.0, activation_fraction_bits - output_shift - value_fraction_bits);
const double state_unit = std::pow(2.0, 15 - input_shift - value_fraction_bits - coefficient_fraction_bits);

double real(std::int64_t value) { return static_cast<double>(value); }
double silu_of(double x) { return x / (1.0 + std::exp(-x)); }

struct Convolution {
    std::vector<Coefficient> taps;
    std::vector<Input> bias, history;
};

/// A layer's parameters as the accelerator holds them.
struct Layer {
    LayerPlan plan;
    LayerData<S> data;
    Convolution x, bc;
    std::vector<int> window;  ///< [token][tap]
    std::vector<Input> step_bias;
    std::vector<ap_uint<16>> rate;
    NormData norms;
};

/// The three nearest ancestors of each token, the farthest first; past the root the history, its newest entry last.
std::vector<int> windows(const std::vector<int>& parents) {
    std::vector<int> window;
    for (int token = 0; token < static_cast<int>(parents.size()); ++token) {
        int chain[conv_reach];
        int at = token;
        for (int back = conv_reach - 1; back >= 0; --back) {
            // From an entry of the history on, each step back is one entry older: -1 - i names entry i.
            at = at >= 0 ? (parents[static_cast<std::size_t>(at)] >= 0 ? parents[static_cast<std::size_t>(at)] : -conv_reach)
                         : at + 1;
            chain[back] = at;
        }
        window.insert(window.end(), chain, chain + conv_reach);
    }
    return window;
}

class Drawn {
public:
    explicit Drawn(unsigned seed) : random_(seed) {}
    int number(int low, int high) { return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1)); }
    template <class T>
    std::vector<T> numbers(int count, int low, int high) {
        std::vector<T> values;
        for (int i = 0; i < count; ++i) {
            values.push_back(T(number(low, high)));
        }
        return values;
    }
    std::vector<float> floats(int count) {
        std::vector<float> values;
        for (int i = 0; i < count; ++i) {
            values.push_back(static_cast<float>(number(50, 150)) / 100.0F);
        }
        return values;
    }
    Convolution convolution(int channels) {
        return {numbers<Coefficient>(channels * convolution_width, -48, 80), numbers<Input>(channels, -64, 64),
                numbers<Input>(channels * conv_reach, -300, 300)};
    }

private:
    std::mt19937 random_;
};

Layer drawn_layer(std::vector<int> parents, unsigned seed) {
    Layer layer;
    LayerPlan& plan = layer.plan;
    plan.parents = std::move(parents);
    plan.coefficients = {(coefficient_columns + S::tile_outputs - 1) / S::tile_outputs, width / S::tile_inputs};
    plan.inputs = {inner / S::tile_outputs, width / S::tile_inputs};
    plan.gate_blocks = inner / S::tile_outputs;
    plan.output = {width / S::tile_outputs, inner / S::tile_inputs};
    plan.state_tiles = state_tiles_of<S>;
    plan.entry_norm_cycles = plan.special_cycles = plan.gated_norm_cycles = 4;
    plan.convolution_cycles = 2;
    layer.data = RandomLayer<S>(plan, seed).data;
    Drawn drawn(seed);
    for (LinearData<S>* linear : {&layer.data.coefficients, &layer.data.inputs, &layer.data.output}) {
        linear->output_shift = output_shift;
        for (WeightTile<S>& tile : linear->weights) {
            for (Scale& scale : tile.scale) {
                scale = drawn.number(8, 31);
            }
        }
    }
    layer.data.input_shift = input_shift;
    const int tokens = static_cast<int>(plan.parents.size());
    layer.x = drawn.convolution(inner);
    layer.bc = drawn.convolution(2 * S::states);
    layer.window = windows(plan.parents);
    layer.step_bias = drawn.numbers<Input>(heads, -512, 0);
    layer.rate = drawn.numbers<ap_uint<16>>(heads, 64, 512);
    for (StateTile<S>& tile : layer.data.memory) {
        for (State& h : tile.h) {
            h = drawn.number(-1500, 1500);
        }
    }
    layer.norms = {drawn.numbers<Input>(tokens * width, -512, 512), drawn.floats(width), drawn.floats(inner),
                   drawn.floats(inner), static_cast<float>(state_unit / (1 << coefficient_fraction_bits))};
    return layer;
}

using Vector = std::vector<double>;

Vector normalised(const Vector& x, const std::vector<float>& weight) {
    double squares = 0.0;
    for (const double value : x) {
        squares += value * value;
    }
    const double scale = 1.0 / std::sqrt(squares / static_cast<double>(x.size()) + norm_epsilon);
    Vector result;
    for (std::size_t i = 0; i < x.size(); ++i) {
        result.push_back(x[i] * scale * static_cast<double>(weight[i]));
    }
    return result;
}

/// `blocks` are the blocks of the weights to take, in order.
Vector projected(const LinearData<S>& linear, const std::vector<int>& blocks, const Vector& in) {
    const auto tiles = static_cast<int>(in.size()) / S::tile_inputs;
    Vector result;
    for (const int block : blocks) {
        for (int out = 0; out < S::tile_outputs; ++out) {
            double sum = 0.0;
            for (int i = 0; i < static_cast<int>(in.size()); ++i) {
                const WeightTile<S>& tile = linear.weights[static_cast<std::size_t>(block * tiles + i / S::tile_inputs)];
                sum += real(tile.weight[out][i % S::tile_inputs]) * real(tile.scale[out]) * weight_unit *
                       in[static_cast<std::size_t>(i)];
            }
            result.push_back(sum);
        }
    }
    return result;
}

std::vector<int> blocks_of(const LayerPlan& plan, bool to_ssm) {
    std::vector<int> blocks;
    BlockOrder order(plan.inputs.blocks, plan.gate_blocks);
    for (int block = 0; block < plan.inputs.blocks + plan.gate_blocks; ++block, order.next()) {
        if (order.to_ssm() == to_ssm) {
            blocks.push_back(block);
        }
    }
    return blocks;
}

std::vector<int> all_blocks(int count) {
    std::vector<int> blocks;
    for (int i = 0; i < count; ++i) {
        blocks.push_back(i);
    }
    return blocks;
}

/// One channel of one token, before[...] being the channel's values of each token.
double convolved_value(const Convolution& convolution, const Layer& layer, const std::vector<Vector>& values, int token,
                       int channel) {
    double sum = real(convolution.bias[static_cast<std::size_t>(channel)]) / 256.0;
    for (int tap = 0; tap < convolution_width; ++tap) {
        const int from = tap == conv_reach ? token : layer.window[static_cast<std::size_t>(token * conv_reach + tap)];
        const double value = from >= 0
                                 ? values[static_cast<std::size_t>(from)][static_cast<std::size_t>(channel)]
                                 : real(convolution.history[static_cast<std::size_t>(channel * conv_reach - 1 - from)]) / 256.0;
        sum += real(convolution.taps[static_cast<std::size_t>(channel * convolution_width + tap)]) / 64.0 * value;
    }
    return silu_of(sum);
}

/// The layer's output in double precision: [token][output].
std::vector<Vector> reference(const Layer& layer) {
    const LayerPlan& plan = layer.plan;
    const auto tokens = plan.parents.size();
    std::vector<Vector> shared, x, gate, result;
    for (std::size_t token = 0; token < tokens; ++token) {
        Vector hidden;
        for (int i = 0; i < width; ++i) {
            hidden.push_back(real(layer.norms.hidden[token * width + static_cast<std::size_t>(i)]) / 256.0);
        }
        const Vector in = normalised(hidden, layer.norms.entry_weight);
        shared.push_back(projected(layer.data.coefficients, all_blocks(plan.coefficients.blocks), in));
        x.push_back(projected(layer.data.inputs, blocks_of(plan, true), in));
        gate.push_back(projected(layer.data.inputs, blocks_of(plan, false), in));
    }
    std::vector<std::vector<double>> states(tokens, Vector(inner * S::states));
    for (int token = 0; token < static_cast<int>(tokens); ++token) {
        Vector gated;
        for (int channel = 0; channel < inner; ++channel) {
            const int head = channel / (inner / heads), parent = plan.parents[static_cast<std::size_t>(token)];
            const double raw = shared[static_cast<std::size_t>(token)][static_cast<std::size_t>(2 * S::states + head)] +
                               real(layer.step_bias[static_cast<std::size_t>(head)]) / 256.0;
            const double step = std::log1p(std::exp(raw));
            const double decay = std::exp(-real(layer.rate[static_cast<std::size_t>(head)]) / 256.0 * step);
            const double value = convolved_value(layer.x, layer, x, token, channel);
            double y = static_cast<double>(layer.norms.skip[static_cast<std::size_t>(channel)]) * value;
            for (int s = 0; s < S::states; ++s) {
                const int element = channel % S::tile_outputs * S::states + s;
                const auto tile = static_cast<std::size_t>(channel / S::tile_outputs * plan.state_tiles + element / S::lanes);
                const auto at = static_cast<std::size_t>(channel * S::states + s);
                const double old = parent >= 0 ? states[static_cast<std::size_t>(parent)][at]
                                               : real(layer.data.memory[tile].h[element % S::lanes]) * state_unit;
                const double b = convolved_value(layer.bc, layer, shared, token, s);
                const double c = convolved_value(layer.bc, layer, shared, token, S::states + s);
                states[static_cast<std::size_t>(token)][at] = decay * old + step * value * b;
                y += states[static_cast<std::size_t>(token)][at] * c;
            }
            gated.push_back(y * silu_of(gate[static_cast<std::size_t>(token)][static_cast<std::size_t>(channel)]));
        }
        result.push_back(
            projected(layer.data.output, all_blocks(plan.output.blocks), normalised(gated, layer.norms.gated_weight)));
    }
    return result;
}

}  // namespace

TEST_CASE("A whole layer agrees with double precision as far as 8-bit activations allow", "[fpga]") {
    std::mt19937 random(9);
    double worst = 0.0;
    for (unsigned seed = 1; seed <= 12; ++seed) {
        Layer layer = drawn_layer(random_parents(1 + static_cast<int>(random() % 20), random), seed);
        const std::vector<Vector> exact = reference(layer);
        LayerData<S>& data = layer.data;
        const SpecialData special = {{layer.bc.taps.data(), layer.bc.bias.data(), layer.window.data(), layer.bc.history.data()},
                                     layer.step_bias.data(),
                                     layer.rate.data(),
                                     heads,
                                     output_shift};
        data.special = &special;
        data.norms = &layer.norms;
        data.convolution = {layer.x.taps.data(), layer.x.bias.data(), layer.window.data(), layer.x.history.data()};
        LayerDesign design;
        design.waiting_fifo = 32;
        design.passes = 2;
        const LayerTrace traced = LayerRun<S>(layer.plan, design, data).run();
        CHECK(schedule(traced.trace).deadlock.empty());
        double errors = 0.0, squares = 0.0;
        for (std::size_t token = 0; token < exact.size(); ++token) {
            for (std::size_t out = 0; out < width; ++out) {
                const double found =
                    real(data.output.sums[token * width + out]) * weight_unit / (1 << activation_fraction_bits);
                errors += std::pow(found - exact[token][out], 2);
                squares += std::pow(exact[token][out], 2);
            }
        }
        worst = std::max(worst, std::sqrt(errors / squares));
    }
    // Activations are rounded to 1/16 of an rms of 1 before each projection: 1/16/√12 = 1.8 % each; B and C to 1/32.
    WARN("whole layers, worst root mean square error " << 100.0 * worst << " % of the output");
    CHECK(worst < 0.08);
}

}  // namespace csim_layer_test
