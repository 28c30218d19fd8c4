// What running a layer on a verilated layer_top takes, with data or without.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "rtl_layer.h"

namespace treeline::kernels::accelerator {

/// Parameters of layer_top that are fixed in the simulated models.
inline constexpr int rtl_ssm_depth = 4, rtl_waiting_places = 32, rtl_weight_fifo = 8, rtl_block_fifo = 2, rtl_heads = 4,
                     rtl_blocks = 64, rtl_activation_words = 1024, rtl_most_replayed = 8;

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
template <class Model>
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

}  // namespace treeline::kernels::accelerator
