// The functional model's data: loading its memories, reading them back, and gathering what comes out.
#pragma once

#include "Vgrid.h"
#include "bench.h"

namespace treeline::kernels::accelerator {

// Host port targets (kernels/rtl/layer_top.sv).
enum HostTarget { state_memory = 0, cache = 1, head_coefficients = 2, token_coefficients = 3, activations = 4 };

/// Fills the on-chip memories through the host port and reads them back.
class DataBench : public Bench<Vgrid> {
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

}  // namespace treeline::kernels::accelerator
