// Runs a plan process by process, as C-simulation does: each unit's function runs to its end, and the streams between them hold
// whatever was written. One template for all shapes, so that timing and function cannot differ.
#pragma once

#include <utility>

#include "kernels/hls/convolution.h"
#include "kernels/hls/layer.h"
#include "kernels/hls/linear_unit.h"
#include "kernels/hls/norms.h"
#include "kernels/hls/special_unit.h"
#include "kernels/hls/ssm_unit.h"
#include "kernels/hls/vector_unit.h"

namespace treeline::kernels::accelerator {

/// A linear layer's data, laid out as linear_unit() says.
template <class S>
struct LinearData {
    std::vector<WeightTile<S>> weights;  ///< block by block
    std::vector<Activation> inputs;
    std::vector<Accumulator> sums;  ///< result, where the destination is the buffer
    int output_shift = 0;
};

/// Of the two norms. Where a functional run has none, the Linear unit takes the inputs that its data hold.
struct NormData {
    std::vector<Input> hidden;  ///< [token][input of the layer]
    std::vector<float> entry_weight, gated_weight;
    std::vector<float> skip;  ///< D of each inner channel
    float y_unit = 0.0F;      ///< value of 1 in y
};

/// What the units of a functional run read and write; all empty for TimingShape.
template <class S>
struct LayerData {
    LinearData<S> coefficients;
    LinearData<S> inputs;  ///< weights of x and the gate in the order of BlockOrder; sums of the gate
    LinearData<S> output;
    std::vector<Decay> decay;          ///< [node][head]
    std::vector<StepSize> step;        ///< [node][head]
    std::vector<Coefficient> b, c;     ///< [node][state]
    std::vector<StateTile<S>> memory;  ///< [block][tile]
    std::vector<Input> cache_before;   ///< [block][token][channel]
    std::vector<Input> cache_now;      ///< result
    std::vector<int> accepted;         ///< tokens of the round before, the root's side first
    ConvolutionData convolution;
    const SpecialData* special = nullptr;  ///< if not given, decay, step, b and c are inputs
    const NormData* norms = nullptr;
    std::vector<Output> y;  ///< result: [token][block][channel]
    int heads = 1, blocks_per_head = 1, input_shift = 0;
};

template <class S>
class LayerRun {
public:
    LayerRun(const LayerPlan& plan, const LayerDesign& design, LayerData<S>& data)
        : plan_(plan), design_(design), data_(data), links_(node_links(plan.parents, plan.replayed)) {
        traced_.memory = process("memory", {1, 0, design.rate_numerator, design.rate_denominator}, true);
        traced_.entry_norm = process("entry norm", {1, design.vector_depth}, plan.entry_norm_cycles > 0);
        traced_.linear = process("Linear unit", design.linear, true);
        traced_.special = process("special functions", {1, design.special_depth}, plan.special_cycles > 0);
        traced_.convolution = process("convolution", {1, design.convolution_depth}, plan.convolution_cycles > 0);
        traced_.ssm = process("SSM unit", design.ssm, plan.inputs.blocks > 0);
        traced_.gated_norm = process("gated norm", {1, design.vector_depth}, plan.gated_norm_cycles > 0);
        traced_.weights = weights_.id();
        traced_.blocks = blocks_.id();
        traced_.waiting = waiting_.id();
    }

    LayerTrace run() {
        const ::hls::Recording recording(traced_.trace);
        fetch(plan_.coefficients.blocks, plan_.coefficients.tiles, data_.coefficients);
        fetch(plan_.inputs.blocks + plan_.gate_blocks, plan_.inputs.tiles, data_.inputs);
        fetch(plan_.output.blocks, plan_.output.tiles, data_.output);
        if (plan_.entry_norm_cycles > 0) {
            traced_.trace.enter(traced_.entry_norm);
            vector_loop(plan_.entry_norm_cycles, nullptr, nullptr, entry_ready_);
            normalise_inputs();
        }
        project_inputs();
        scan();
        project_outputs();
        return std::move(traced_);
    }

private:
    int process(const char* name, LoopTiming timing, bool present) {
        return present ? traced_.trace.add_process(name, timing) : -1;
    }
    template <class T>
    ::hls::stream<T> stream(const char* name, int depth) {
        return {name, traced_.trace.add_stream(name, depth)};
    }

    /// Without overlap all of x waits for the next unit.
    [[nodiscard]] int places_for_blocks() const {
        return design_.overlap ? design_.block_fifo : std::max(design_.block_fifo, plan_.inputs.blocks);
    }

    void fetch(int blocks, int tiles, const LinearData<S>& layer) {
        traced_.trace.enter(traced_.memory);
        const std::size_t count = static_cast<std::size_t>(blocks) * static_cast<std::size_t>(tiles);
        for (std::size_t i = 0; i < count; ++i) {
            TREELINE_ITERATION;
            if constexpr (S::functional) {
                weights_.write(layer.weights[i]);
            } else {
                weights_.write({});
            }
        }
    }

    LinearJob job(int ssm_blocks, int buffer_blocks, int tiles, const LinearData<S>& layer) const {
        return {ssm_blocks,     buffer_blocks,      tiles, static_cast<int>(plan_.parents.size()),
                design_.passes, layer.output_shift, false, false};
    }

    void project(const LinearJob& job, LinearData<S>& layer, ::hls::stream<Token>& ready, ::hls::stream<Token>& finished) {
        if constexpr (S::functional) {
            layer.sums.assign(static_cast<std::size_t>(job.tokens * job.buffer_blocks * S::tile_outputs), Accumulator(0));
        }
        traced_.trace.enter(traced_.linear);
        linear_unit<S>(job, layer.inputs.data(), ready, weights_, plan_.convolution_cycles > 0 ? unconvolved_ : blocks_,
                       layer.sums.data(), finished);
    }

    void project_inputs() {
        LinearJob first = job(0, plan_.coefficients.blocks, plan_.coefficients.tiles, data_.coefficients);
        first.waits = plan_.entry_norm_cycles > 0 && plan_.coefficients.blocks > 0;
        first.signals = plan_.special_cycles > 0;
        project(first, data_.coefficients, entry_ready_, coefficients_finished_);
        LinearJob second = job(plan_.inputs.blocks, plan_.gate_blocks, plan_.inputs.tiles, data_.inputs);
        second.waits = plan_.entry_norm_cycles > 0 && plan_.coefficients.blocks == 0;
        second.signals = true;
        project(second, data_.inputs, entry_ready_, inputs_finished_);
    }

    void scan() {
        if (plan_.special_cycles > 0) {
            traced_.trace.enter(traced_.special);
            vector_loop(plan_.special_cycles, plan_.coefficients.blocks > 0 ? &coefficients_finished_ : nullptr, nullptr,
                        special_ready_);
            find_coefficients();
        }
        if (plan_.inputs.blocks == 0) {
            return;
        }
        const int tokens = static_cast<int>(plan_.parents.size());
        if constexpr (S::functional) {
            data_.y.assign(static_cast<std::size_t>(tokens * plan_.inputs.blocks * S::tile_outputs), Output(0));
            data_.cache_now.assign(static_cast<std::size_t>(plan_.inputs.blocks * S::most_tokens * S::tile_outputs), Input(0));
        }
        const bool convolves = plan_.convolution_cycles > 0;
        if (convolves) {
            traced_.trace.enter(traced_.convolution);
            const ConvolutionJob job = {plan_.inputs.blocks, plan_.convolution_cycles, tokens, !design_.overlap,
                                        !design_.overlap};
            convolution_unit<S>(job, data_.convolution, inputs_finished_, unconvolved_, blocks_, convolution_finished_);
        }
        traced_.trace.enter(traced_.ssm);
        ::hls::stream<Token>* in_turn = design_.overlap ? nullptr : convolves ? &convolution_finished_ : &inputs_finished_;
        const SsmJob job = {plan_.inputs.blocks,   plan_.state_tiles, design_.interleaved,     plan_.replayed, tokens,
                            data_.blocks_per_head, data_.input_shift, plan_.special_cycles > 0};
        const Coefficients coefficients = {data_.decay.data(), data_.step.data(), data_.b.data(), data_.c.data(), data_.heads};
        const ActivationCache cache = {data_.cache_before.data(), data_.cache_now.data(), data_.accepted.data()};
        ssm_unit<S>(job, links_.data(), coefficients, data_.memory.data(), cache, special_ready_, in_turn, blocks_, waiting_,
                    data_.y.data(), ssm_finished_);
    }

    void normalise_inputs() {
        if constexpr (S::functional) {
            if (data_.norms != nullptr) {
                const int width = plan_.inputs.tiles * S::tile_inputs;
                for (std::size_t token = 0; token < plan_.parents.size(); ++token) {
                    const std::size_t at = token * static_cast<std::size_t>(width);
                    rms_norm(&data_.norms->hidden[at], data_.norms->entry_weight.data(), width, &data_.inputs.inputs[at]);
                }
                data_.coefficients.inputs = data_.inputs.inputs;
            }
        }
    }

    void find_coefficients() {
        if constexpr (S::functional) {
            if (data_.special != nullptr) {
                special_functions<S>(*data_.special, data_.coefficients.sums.data(),
                                     plan_.coefficients.blocks * S::tile_outputs, static_cast<int>(plan_.parents.size()),
                                     {data_.decay.data(), data_.step.data(), data_.b.data(), data_.c.data(), plan_.replayed});
            }
        }
    }

    void normalise_outputs() {
        if constexpr (S::functional) {
            if (data_.norms == nullptr) {
                return;
            }
            const int width = plan_.inputs.blocks * S::tile_outputs;
            std::vector<Input> x(static_cast<std::size_t>(width)), gate(x.size());
            std::vector<float> gated(x.size());
            for (int token = 0; token < static_cast<int>(plan_.parents.size()); ++token) {
                for (int channel = 0; channel < width; ++channel) {
                    const int cached = (channel / S::tile_outputs * S::most_tokens + token) * S::tile_outputs;
                    const auto at = static_cast<std::size_t>(channel);
                    x[at] = data_.cache_now[static_cast<std::size_t>(cached + channel % S::tile_outputs)];
                    gate[at] =
                        requantised(data_.inputs.sums[static_cast<std::size_t>(token * width) + at], data_.inputs.output_shift);
                }
                const auto first = static_cast<std::size_t>(token * width);
                gated_norm({&data_.y[first], data_.norms->y_unit, x.data(), gate.data(), data_.norms->skip.data()},
                           data_.norms->gated_weight.data(), width, gated.data(), &data_.output.inputs[first]);
            }
        }
    }

    void project_outputs() {
        const bool norm = plan_.gated_norm_cycles > 0;
        if (norm) {
            traced_.trace.enter(traced_.gated_norm);
            vector_loop(plan_.gated_norm_cycles, &ssm_finished_, design_.overlap ? &inputs_finished_ : nullptr, output_ready_);
            normalise_outputs();
        }
        LinearJob last = job(0, plan_.output.blocks, plan_.output.tiles, data_.output);
        last.waits = norm;
        project(last, data_.output, output_ready_, inputs_finished_);
    }

    const LayerPlan& plan_;
    const LayerDesign& design_;
    LayerData<S>& data_;
    std::vector<NodeLink> links_;
    LayerTrace traced_;
    ::hls::stream<WeightTile<S>> weights_ = stream<WeightTile<S>>("weights", design_.weight_fifo);
    ::hls::stream<InputBlock<S>> unconvolved_ = stream<InputBlock<S>>("blocks before the convolution", places_for_blocks());
    ::hls::stream<InputBlock<S>> blocks_ = stream<InputBlock<S>>("blocks", places_for_blocks());
    ::hls::stream<StateTile<S>> waiting_ = stream<StateTile<S>>("waiting states", design_.waiting_fifo);
    ::hls::stream<Token> entry_ready_ = stream<Token>("entry norm ready", 1);
    ::hls::stream<Token> coefficients_finished_ = stream<Token>("B, C, dt finished", 1);
    ::hls::stream<Token> special_ready_ = stream<Token>("coefficients ready", 1);
    ::hls::stream<Token> inputs_finished_ = stream<Token>("x and gate finished", 1);
    ::hls::stream<Token> convolution_finished_ = stream<Token>("convolution finished", 1);
    ::hls::stream<Token> ssm_finished_ = stream<Token>("SSM finished", 1);
    ::hls::stream<Token> output_ready_ = stream<Token>("gated norm ready", 1);
};

}  // namespace treeline::kernels::accelerator
