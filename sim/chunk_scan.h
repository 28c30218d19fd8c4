// What the chunk kernels of a delta rule take to read a prompt.
#pragma once

#include <algorithm>
#include <string>

#include "sim/units.h"

namespace treeline::sim {

/// Prompts of n tokens for each of b sequences in one layer, with B bytes moved beside weights:
///   c = per_token·n,   y = per_head·b·n·heads/multiprocessors + traffic·max(0, B − cache)/peak bandwidth
/// time = startup + max(c, y) + overlap·min(c, y). Chunks of a sequence follow each other, so that their steps add up however
/// few heads a rank has; heads and sequences are shared out over multiprocessors.
struct ChunkScanLaw {
    std::string family;       ///< whose kernels: "vllm", "sglang", "tensorrt-llm"
    bool by_channel = false;  ///< one decay for each channel (Kimi Delta Attention), not for each head (Gated DeltaNet)
    Seconds startup;          ///< launches, first loads
    Seconds per_token;        ///< of the steps from chunk to chunk, whatever else runs
    Seconds per_head;         ///< that a multiprocessor needs for a head of a token
    /// Bytes through memory, of those that are counted and that the cache does not hold: a fused kernel keeps the states
    /// between chunks to itself.
    double traffic = 0.0;
    double overlap = 0.0;  ///< 0 hides the shorter of the two wholly, 1 not at all
};

struct ChunkScan {
    double sequences = 1.0;
    double tokens = 1.0;  ///< of each sequence
    double heads = 1.0;   ///< that hold a state, on this rank
    Bytes moved;          ///< by all of it
};

/// What a device has of it.
struct ChunkScanDevice {
    BytesPerSecond bandwidth;  ///< of the data sheet
    double multiprocessors = 1.0;
    Bytes cache;
};

/// More of anything in `shape` never takes less time.
inline Seconds time_of(const ChunkScanLaw& law, const ChunkScan& shape, const ChunkScanDevice& device) {
    const Seconds chain = law.per_token * shape.tokens;
    const double turns = shape.sequences * shape.tokens * shape.heads / std::max(device.multiprocessors, 1.0);
    const Bytes beyond = std::max(Bytes(0.0), shape.moved - device.cache);
    const Seconds work = law.per_head * turns + beyond / device.bandwidth * law.traffic;
    return law.startup + std::max(chain, work) + std::min(chain, work) * law.overlap;
}

}  // namespace treeline::sim
