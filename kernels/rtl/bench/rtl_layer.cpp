#include "rtl_layer.h"

#include <algorithm>
#include <stdexcept>

#include "Vgrid.h"
#include "Vtiming.h"

namespace treeline::accelerator {
namespace {

constexpr int rtl_ssm_depth = 4, rtl_waiting_places = 32, rtl_weight_fifo = 8, rtl_block_fifo = 2, rtl_heads = 4,
              rtl_blocks = 64, rtl_activation_words = 1024, rtl_most_replayed = 8;

// Host port targets (kernels/rtl/layer_top.sv).
enum HostTarget { state_memory = 0, cache = 1, head_coefficients = 2, token_coefficients = 3, activations = 4 };

/// Bits of a port, which Verilator gives as an integer or as an array of words.
template <class Port>
void set_bits(Port& port, int low, int width, std::uint64_t value) {
    if constexpr (std::is_integral_v<Port>) {
        const std::uint64_t mask = (width == 64 ? ~0ULL : (1ULL << width) - 1) << low;
        port = static_cast<Port>((port & ~mask) | ((value << low) & mask));
    } else {
        for (int i = 0; i < width; ++i) {
            const int bit = low + i;
            const std::uint32_t one = 1U << (bit % 32);
            port[bit / 32] = (value >> i & 1) != 0 ? port[bit / 32] | one : port[bit / 32] & ~one;
        }
    }
}

template <class Port>
std::int64_t signed_bits(const Port& port, int low, int width) {
    std::uint64_t value = 0;
    if constexpr (std::is_integral_v<Port>) {
        value = static_cast<std::uint64_t>(port) >> low;
    } else {
        for (int i = 0; i < width; ++i) {
            value |= static_cast<std::uint64_t>(port[(low + i) / 32] >> ((low + i) % 32) & 1) << i;
        }
    }
    return static_cast<std::int64_t>(value << (64 - width)) >> (64 - width);
}

/// What `Model`, a verilated layer_top, needs to run a layer.
template <class Model, class S>
class Bench {
public:
    Bench(const LayerPlan& plan, const LayerDesign& design) : plan_(plan), design_(design) {
        model_.clk = 0;
        model_.reset = 1;
        model_.tile_valid = 0;
        model_.host_write = model_.host_read = 0;
        configure();
        tick();
    }

    Model& model() { return model_; }

    void tick() {
        model_.clk = 1;
        model_.eval();
        model_.clk = 0;
        model_.eval();
    }

    /// Cycle 0 is the first without reset. `next_tile` puts tile number i on the port, `watch` sees the outputs of each cycle.
    template <class NextTile, class Watch>
    RtlOutcome run(std::int64_t tiles, std::int64_t most_cycles, NextTile next_tile, Watch watch) {
        RtlOutcome outcome;
        tick();  // the memories read what was written last
        model_.reset = 0;
        std::int64_t sent = 0;
        int gathered = 0;
        for (std::int64_t cycle = 0;; ++cycle) {
            if (cycle > most_cycles) {
                throw std::runtime_error("the RTL did not end within " + std::to_string(most_cycles) + " cycles");
            }
            if (gathered < design_.rate_denominator) {
                gathered += design_.rate_numerator;
            }
            const bool offers = sent < tiles && gathered >= design_.rate_denominator;
            if (offers && model_.tile_valid == 0) {
                next_tile(sent);
            }
            model_.tile_valid = offers;
            model_.eval();
            const bool taken = offers && model_.tile_ready;
            outcome.waiting_high_water = std::max<int>(outcome.waiting_high_water, model_.waiting_held);
            outcome.waited_for_state += model_.waits_for_state;
            outcome.waited_for_tile += model_.waits_for_tile;
            outcome.waited_for_ssm += model_.waits_for_ssm;
            watch(model_);
            if (model_.finished || model_.deadlocked) {
                outcome.cycles = model_.cycles;
                outcome.deadlocked = model_.deadlocked;
                return outcome;
            }
            tick();
            if (taken) {
                ++sent;
                gathered -= design_.rate_denominator;
                model_.tile_valid = 0;
            }
        }
    }

private:
    void configure() {
        const LinearTiles jobs[] = {plan_.coefficients, plan_.inputs, plan_.output};
        model_.gate_blocks = static_cast<std::uint16_t>(plan_.gate_blocks);
        for (int i = 0; i < 3; ++i) {
            set_bits(model_.job_blocks, 16 * i, 16, static_cast<std::uint64_t>(jobs[i].blocks));
            set_bits(model_.job_tiles, 16 * i, 16, static_cast<std::uint64_t>(jobs[i].tiles));
        }
        model_.passes = static_cast<std::uint8_t>(design_.passes);
        model_.output_activations = static_cast<std::uint16_t>(plan_.inputs.tiles * design_.passes);
        model_.entry_norm_cycles = static_cast<std::uint16_t>(plan_.entry_norm_cycles);
        model_.gated_norm_cycles = static_cast<std::uint16_t>(plan_.gated_norm_cycles);
        model_.norm_depth = static_cast<std::uint8_t>(design_.vector_depth);
        model_.state_tiles = static_cast<std::uint16_t>(plan_.state_tiles);
        model_.interleaved = static_cast<std::uint16_t>(design_.interleaved);
        model_.initiation_interval = static_cast<std::uint8_t>(design_.ssm.initiation_interval);
        model_.fifo_depth = static_cast<std::uint8_t>(design_.waiting_fifo);
        const std::vector<NodeLink> links = node_links(plan_.parents, plan_.replayed);
        model_.nodes = static_cast<std::uint8_t>(links.size());
        model_.replayed = static_cast<std::uint8_t>(plan_.replayed);
        for (std::size_t i = 0; i < links.size(); ++i) {
            set_bits(model_.from_memory, static_cast<int>(i), 1, links[i].from_memory);
            set_bits(model_.takes_next, static_cast<int>(i), 1, links[i].takes_next);
            set_bits(model_.kept, static_cast<int>(i), 1, links[i].kept);
        }
    }

    const LayerPlan& plan_;
    const LayerDesign& design_;
    Model model_;
};

/// Fills the on-chip memories through the host port and reads them back.
class DataBench : public Bench<Vgrid, GridShape> {
public:
    using S = GridShape;
    DataBench(const LayerPlan& plan, const LayerDesign& design, const LayerData<S>& data)
        : Bench(plan, design), plan_(plan), design_(design), data_(data) {
        load_activations(data.inputs, plan.inputs.tiles, 0);
        load_activations(data.output, plan.output.tiles, plan.inputs.tiles * design.passes);
        load_states();
        load_cache();
        load_coefficients();
        model().output_shift = static_cast<std::uint8_t>(data.inputs.output_shift);
        model().input_shift = static_cast<std::uint8_t>(data.input_shift);
        model().cache_bank = 1;
        int log2 = 0;
        while ((1 << log2) < data.blocks_per_head) {
            ++log2;
        }
        model().blocks_of_head_log2 = static_cast<std::uint8_t>(log2);
        for (std::size_t i = 0; i < data.accepted.size(); ++i) {
            set_bits(model().accepted, static_cast<int>(i) * 5, 5, static_cast<std::uint64_t>(data.accepted[i]));
        }
    }

    void put_tile(const WeightTile<S>& tile) {
        for (int out = 0; out < S::tile_outputs; ++out) {
            for (int in = 0; in < S::tile_inputs; ++in) {
                set_bits(model().tile_data, (out * S::tile_inputs + in) * 4, 4,
                         static_cast<std::uint64_t>(static_cast<std::int64_t>(tile.weight[out][in])));
            }
            set_bits(model().tile_data, S::tile_outputs * S::tile_inputs * 4 + out * 6, 6,
                     static_cast<std::uint64_t>(static_cast<std::int64_t>(tile.scale[out])));
        }
    }

    void read_back(RtlOutcome& outcome) {
        const int tiles = plan_.inputs.blocks * plan_.state_tiles;
        model().reset = 1;
        model().host_read = 1;
        for (int i = 0; i < tiles; ++i) {
            inspect(state_memory, i);
            StateTile<S> tile;
            for (int lane = 0; lane < S::lanes; ++lane) {
                tile.h[lane] = signed_bits(model().host_answer, lane * 16, 16);
            }
            outcome.memory.push_back(tile);
        }
        for (int i = 0; i < plan_.inputs.blocks * S::most_tokens; ++i) {
            inspect(cache, rtl_blocks * S::most_tokens + i);
            const bool written = i % S::most_tokens < static_cast<int>(plan_.parents.size());
            for (int channel = 0; channel < S::tile_outputs; ++channel) {
                outcome.cache_now.push_back(written ? signed_bits(model().host_answer, channel * 16, 16) : 0);
            }
        }
    }

private:
    void host_writes(HostTarget target, int address) {
        model().host_write = 1;
        model().host_target = static_cast<std::uint8_t>(target);
        model().host_address = static_cast<std::uint16_t>(address);
        tick();
        model().host_write = 0;
    }
    void inspect(HostTarget target, int address) {
        model().host_target = static_cast<std::uint8_t>(target);
        model().host_address = static_cast<std::uint16_t>(address);
        tick();
    }

    void load_activations(const LinearData<S>& layer, int tiles, int base) {
        const int tokens = static_cast<int>(plan_.parents.size());
        for (int tile = 0; tile < tiles; ++tile) {
            for (int pass = 0; pass < design_.passes; ++pass) {
                for (int lane = 0; lane < S::token_lanes; ++lane) {
                    const int token = pass * S::token_lanes + lane;
                    for (int in = 0; in < S::tile_inputs; ++in) {
                        const std::size_t at = static_cast<std::size_t>((token * tiles + tile) * S::tile_inputs + in);
                        const std::int64_t value = token < tokens ? static_cast<std::int64_t>(layer.inputs[at]) : 0;
                        set_bits(model().host_activations, (lane * S::tile_inputs + in) * 8, 8,
                                 static_cast<std::uint64_t>(value));
                    }
                }
                host_writes(activations, base + tile * design_.passes + pass);
            }
        }
    }

    void load_states() {
        for (std::size_t i = 0; i < data_.memory.size(); ++i) {
            for (int lane = 0; lane < S::lanes; ++lane) {
                set_bits(model().host_data, lane * 16, 16,
                         static_cast<std::uint64_t>(static_cast<std::int64_t>(data_.memory[i].h[lane])));
            }
            host_writes(state_memory, static_cast<int>(i));
        }
    }

    void load_cache() {
        for (std::size_t i = 0; i < data_.cache_before.size(); i += S::tile_outputs) {
            for (int channel = 0; channel < S::tile_outputs; ++channel) {
                set_bits(model().host_data, channel * 16, 16,
                         static_cast<std::uint64_t>(
                             static_cast<std::int64_t>(data_.cache_before[i + static_cast<std::size_t>(channel)])));
            }
            host_writes(cache, static_cast<int>(i) / S::tile_outputs);
        }
    }

    void load_coefficients() {
        const int nodes = plan_.replayed + static_cast<int>(plan_.parents.size());
        for (int node = 0; node < nodes; ++node) {
            for (int head = 0; head < data_.heads; ++head) {
                const auto at = static_cast<std::size_t>(node * data_.heads + head);
                set_bits(model().host_data, 0, 16, static_cast<std::uint64_t>(static_cast<std::int64_t>(data_.decay[at])));
                set_bits(model().host_data, 16, 16, static_cast<std::uint64_t>(static_cast<std::int64_t>(data_.step[at])));
                host_writes(head_coefficients, node * rtl_heads + head);
            }
            for (int state = 0; state < S::states; ++state) {
                const auto at = static_cast<std::size_t>(node * S::states + state);
                set_bits(model().host_data, state * 8, 8, static_cast<std::uint64_t>(static_cast<std::int64_t>(data_.b[at])));
                set_bits(model().host_data, (S::states + state) * 8, 8,
                         static_cast<std::uint64_t>(static_cast<std::int64_t>(data_.c[at])));
            }
            host_writes(token_coefficients, node);
        }
    }

    const LayerPlan& plan_;
    const LayerDesign& design_;
    const LayerData<S>& data_;
};

/// Puts the sums and y of each cycle where the C-simulation has them.
class Collector {
public:
    using S = GridShape;
    Collector(const LayerPlan& plan, RtlOutcome& outcome) : plan_(plan), outcome_(outcome) {
        const auto size = [&](const LinearTiles& tiles) {
            return plan.parents.size() * static_cast<std::size_t>(tiles.blocks * S::tile_outputs);
        };
        outcome.coefficient_sums.resize(size(plan.coefficients));
        outcome.gate_sums.resize(size({plan.gate_blocks, 0}));
        outcome.output_sums.resize(size(plan.output));
        outcome.y.resize(size(plan.inputs));
    }

    void see(const Vgrid& model) {
        if (model.sums_valid) {
            take_block(model);
        }
        if (model.y_valid) {
            constexpr int channels = S::lanes > S::states ? S::lanes / S::states : 1;
            for (int channel = 0; channel < channels; ++channel) {
                const int at =
                    (model.y_node * plan_.inputs.blocks + model.y_block) * S::tile_outputs + model.y_tile * channels + channel;
                outcome_.y[static_cast<std::size_t>(at)] = signed_bits(model.y, channel * 40, 40);
            }
        }
    }

private:
    void take_block(const Vgrid& model) {
        const int first = plan_.coefficients.blocks;
        const int second = first + plan_.inputs.blocks + plan_.gate_blocks;
        if (block_ < first) {
            store(model, outcome_.coefficient_sums, block_, first);
        } else if (block_ >= second) {
            store(model, outcome_.output_sums, block_ - second, plan_.output.blocks);
        } else {
            if (!order_.to_ssm()) {
                store(model, outcome_.gate_sums, gate_++, plan_.gate_blocks);
            }
            order_.next();
        }
        ++block_;
    }

    void store(const Vgrid& model, std::vector<Accumulator>& sums, int block, int blocks) const {
        for (int token = 0; token < static_cast<int>(plan_.parents.size()); ++token) {
            for (int out = 0; out < S::tile_outputs; ++out) {
                sums[static_cast<std::size_t>((token * blocks + block) * S::tile_outputs + out)] =
                    signed_bits(model.sums, (token * S::tile_outputs + out) * 32, 32);
            }
        }
    }

    const LayerPlan& plan_;
    RtlOutcome& outcome_;
    BlockOrder order_{plan_.inputs.blocks, plan_.gate_blocks};
    int block_ = 0, gate_ = 0;
};

std::int64_t tiles_of(const LayerPlan& plan) {
    const auto tiles = [](int blocks, int of_block) { return static_cast<std::int64_t>(blocks) * of_block; };
    return tiles(plan.coefficients.blocks, plan.coefficients.tiles) +
           tiles(plan.inputs.blocks + plan.gate_blocks, plan.inputs.tiles) + tiles(plan.output.blocks, plan.output.tiles);
}

}  // namespace

std::string rtl_limit(const LayerPlan& plan, const LayerDesign& design, bool functional) {
    using S = GridShape;
    if (design.ssm.depth != rtl_ssm_depth || design.linear.depth != 1 || design.linear.initiation_interval != 1 ||
        design.weight_fifo != rtl_weight_fifo || design.block_fifo != rtl_block_fifo ||
        design.waiting_fifo > rtl_waiting_places || plan.special_cycles > 0 || plan.convolution_cycles > 0 || !design.overlap) {
        return "the RTL has other pipelines and FIFOs";
    }
    if (plan.replayed > rtl_most_replayed || plan.parents.size() > S::most_tokens) {
        return "the RTL holds 32 tokens and 8 recomputed ones";
    }
    if (functional &&
        (plan.inputs.blocks > rtl_blocks || plan.state_tiles != state_tiles_of<S> || design.interleaved > S::most_interleaved ||
         (plan.inputs.tiles + plan.output.tiles) * design.passes > rtl_activation_words)) {
        return "the layer does not fit the RTL's memories";
    }
    return {};
}

RtlOutcome run_rtl(const LayerPlan& plan, const LayerDesign& design, const LayerData<GridShape>& data,
                   std::int64_t most_cycles) {
    if (const std::string limit = rtl_limit(plan, design, true); !limit.empty()) {
        throw std::runtime_error(limit);
    }
    if (data.heads > rtl_heads) {
        throw std::runtime_error("the RTL holds the coefficients of 4 heads");
    }
    std::vector<const WeightTile<GridShape>*> tiles;
    for (const LinearData<GridShape>* layer : {&data.coefficients, &data.inputs, &data.output}) {
        for (const WeightTile<GridShape>& tile : layer->weights) {
            tiles.push_back(&tile);
        }
    }
    DataBench bench(plan, design, data);
    RtlOutcome collected;
    Collector collector(plan, collected);
    const auto count = static_cast<std::int64_t>(tiles.size());
    RtlOutcome outcome = bench.run(
        count, most_cycles, [&](std::int64_t i) { bench.put_tile(*tiles[static_cast<std::size_t>(i)]); },
        [&](const Vgrid& model) { collector.see(model); });
    outcome.coefficient_sums = std::move(collected.coefficient_sums);
    outcome.gate_sums = std::move(collected.gate_sums);
    outcome.output_sums = std::move(collected.output_sums);
    outcome.y = std::move(collected.y);
    bench.read_back(outcome);
    return outcome;
}

RtlOutcome run_rtl_timing(const LayerPlan& plan, const LayerDesign& design, std::int64_t most_cycles) {
    if (const std::string limit = rtl_limit(plan, design, false); !limit.empty()) {
        throw std::runtime_error(limit);
    }
    Bench<Vtiming, TimingShape> bench(plan, design);
    return bench.run(
        tiles_of(plan), most_cycles, [](std::int64_t) {}, [](const Vtiming&) {});
}

}  // namespace treeline::accelerator
