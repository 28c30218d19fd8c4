// What a recurrent layer's kernel takes to verify chains of tokens when it writes the state after each of them.
#pragma once

#include <algorithm>
#include <string>

#include "sim/units.h"

namespace treeline::sim {

/// Verification of T tokens for each of b sequences by one layer, whose state has S bytes a sequence:
///   c = per_token·T,   y = (1 + T)·S·b/(bandwidth_share·peak bandwidth)
/// time = startup + max(c, y) + overlap·min(c, y), and never less than per_head·b·heads/multiprocessors. The state is read once
/// and written after each token; tokens follow each other, so that their steps add up even for a single sequence.
struct RecurrentVerificationLaw {
    std::string family;            ///< whose kernel: "vllm", "sglang"; "sglang-fused" where the convolution is in it
    bool convolves = false;        ///< the layer's causal convolution is in the time
    Seconds startup;               ///< launch, first loads
    Seconds per_token;             ///< of the chain of steps, whatever the batch
    double bandwidth_share = 1.0;  ///< of the data sheet's memory bandwidth
    double overlap = 0.0;          ///< 0 hides the shorter of the two wholly, 1 not at all
    Seconds per_head;              ///< that a multiprocessor needs for a head of a sequence, whatever T; 0 = no such limit
};

struct RecurrentVerification {
    double sequences = 1.0;
    double tokens = 1.0;  ///< of each sequence, the root included
    double heads = 1.0;   ///< that hold a state, on this rank
    Bytes state;          ///< of one sequence, all of these heads
};

/// For a device of this data-sheet bandwidth and so many multiprocessors. More of anything in `shape` never takes less time.
inline Seconds time_of(const RecurrentVerificationLaw& law, const RecurrentVerification& shape, BytesPerSecond bandwidth,
                       double multiprocessors) {
    const Seconds chain = law.per_token * shape.tokens;
    const Seconds traffic = shape.state * ((1.0 + shape.tokens) * shape.sequences) / (bandwidth * law.bandwidth_share);
    const Seconds both = law.startup + std::max(chain, traffic) + std::min(chain, traffic) * law.overlap;
    const Seconds heads = law.per_head * (shape.sequences * shape.heads / std::max(multiprocessors, 1.0));
    return std::max(both, heads);
}

}  // namespace treeline::sim
