// Attention by a kernel whose thread blocks each read a whole cache: it splits caches over multiprocessors for a single query
// row of grouped heads only, so verification, ungrouped and windowed decoding and drafters of several rows go through a cache
// block by block (FlashAttention 2 as vLLM runs it on compute capability 8 and 12).
#pragma once

#include <algorithm>

#include "sim/rounding.h"
#include "sim/units.h"

namespace treeline::sim {

inline constexpr double walk_tile_rows = 64.0;    ///< query rows of a head that one thread block takes
inline constexpr double walk_head_width = 128.0;  ///< width of the heads that per_token is for

/// With b sequences, h query heads, r rows of each, s cached tokens, d wide, B bytes read and N multiprocessors
///   walk = per_token·s·d/128·max(1, b·h·ceil(r/64)/N)
/// time = startup + max(B/(bandwidth_share·peak bandwidth), walk).
struct AttentionWalkLaw {
    Seconds startup;
    Seconds per_token;             ///< of a cached token, heads 128 wide
    double bandwidth_share = 1.0;  ///< of the data sheet's memory bandwidth
};

struct AttentionWalk {
    double sequences = 0.0;
    double query_heads = 0.0;  ///< on this rank
    double rows = 0.0;         ///< of each head: tokens of a sequence that are computed together, k + 1 in verification
    double context = 0.0;      ///< cached tokens that they see, at most the window
    double head_width = walk_head_width;
    Bytes cache;  ///< keys and values of all sequences that are read
};

/// How often the multiprocessors go through a cache, one after the other.
inline double walks(const AttentionWalk& shape, double multiprocessors) {
    const double blocks = shape.sequences * shape.query_heads * rounded_up(shape.rows / walk_tile_rows);
    return std::max(1.0, blocks / std::max(multiprocessors, 1.0));
}

inline Seconds time_of(const AttentionWalkLaw& law, const AttentionWalk& shape, BytesPerSecond bandwidth,
                       double multiprocessors) {
    const Seconds walk = law.per_token * (shape.context * shape.head_width / walk_head_width * walks(shape, multiprocessors));
    return law.startup + std::max(shape.cache / (bandwidth * law.bandwidth_share), walk);
}

/// FLOP/s of a multiprocessor during a walk, over its share of the peak: a tile's 4·64·128 products of a cached token.
inline double walk_efficiency(Seconds per_token, FlopsPerSecond peak, double multiprocessors) {
    const Flops tile(4.0 * walk_tile_rows * walk_head_width);
    return tile / (peak / multiprocessors) / per_token;
}

/// And per_token of a device whose multiprocessors reach that efficiency.
inline Seconds walk_at(double efficiency, FlopsPerSecond peak, double multiprocessors) {
    return Flops(4.0 * walk_tile_rows * walk_head_width) / (peak / multiprocessors) / efficiency;
}

}  // namespace treeline::sim
