// One pass of a model on the accelerator: all layers and the LM head, against the bytes that memory has to move meanwhile.
#pragma once

#include "sim/enum_names.h"
#include "sim/fpga/layer.h"

namespace treeline::sim::fpga {

/// Width of a state element before compression, for designs that move states as they are computed.
inline constexpr double uncompressed_state_bits = 16.0;

struct PassWork {
    LayerWork layer;
    double state_reads = 1.0;  ///< whole recurrent states (all layers) moved under cover of the pass, compressed
    double state_writes = 1.0;
    double exposed_states = 0.0;  ///< whole states moved beside it, uncompressed
    double cached_tokens = 0.0;   ///< tokens whose activations are written to or read from the cache in memory
};

/// By kind, of one pass.
struct PassBytes {
    Bytes weights, head, states, activations, exposed_states;

    [[nodiscard]] Bytes total() const { return weights + head + states + activations + exposed_states; }
};

enum class PassBound { compute, memory };
constexpr auto names_in(PassBound) {
    using enum PassBound;
    return enum_names<PassBound>({{compute, "compute"}, {memory, "memory"}});
}

struct PassCost {
    LayerCycles layer;
    TileStream head;  ///< unused if another processor has the LM head
    double head_cycles = 0.0;
    double compute_cycles = 0.0;  ///< layers · layer.total + head_cycles
    Seconds compute, memory;      ///< memory: all but the exposed states, at the efficiency that streams reach
    Seconds exposed;
    Seconds time;  ///< max(compute, memory) + exposed
    PassBytes bytes;
    double products = 0.0;  ///< of the Linear unit
    PassBound bound = PassBound::compute;
};

PassCost pass_cost(const Board& board, const Design& design, const MambaShape& shape, const PassWork& work);

}  // namespace treeline::sim::fpga
