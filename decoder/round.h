// What the parts of a decoder tell each other about a round.
#pragma once

#include <vector>

#include "decoder/memory.h"

namespace treeline::decoder {

/// Sizes that target and drafter share.
struct Batch {
    int sequences = 1;
    int positions = 1;           ///< of a sequence in the caches
    int longest_text = 1;        ///< positions of a sequence's context, prompt and output
    int tree_tokens = 1;         ///< of the draft, root included
    bool fixed_shapes = false;   ///< passes must be as large as they can get, since graphs replay them
    bool cuts_contexts = false;  ///< attention takes a context in parts
};

/// What became of one sequence's draft. A sequence that has all its tokens goes on taking part without an outcome.
struct Outcome {
    bool finished = false;
    std::vector<int> nodes;  ///< the accepted path in the tree, the root first
    std::vector<int> rows;   ///< the same in the rows of verification
    std::vector<int> ids;    ///< tokens produced: those of the path behind the root, then the target's own
};

/// A sequence as the host sees it.
struct Text {
    std::vector<int> tokens;  ///< the prompt, then what was produced; the last one is the next round's root
    int offset = 0;           ///< positions before the prompt

    /// Positions in the caches before the root: what target passes start from.
    [[nodiscard]] int context() const { return offset + static_cast<int>(tokens.size()) - 1; }
};

/// Device memory that one download brings to the host.
struct RoundResult {
    int* draft_ids = nullptr;  ///< [sequences][tree_tokens], then one -1 for padding
    int* argmax = nullptr;     ///< [sequences][rows]
    int* count = nullptr;      ///< [sequences * branches]
    int* path = nullptr;       ///< [sequences * branches][levels]
    int* next_id = nullptr;    ///< [sequences * branches]
};

/// Elements of `a` rows of `b`.
inline std::size_t product(int a, int b) { return static_cast<std::size_t>(a) * static_cast<std::size_t>(b); }

/// Ints moved by index, on the device.
inline void gather_ints(Memory& memory, int count, const int* from, Indices from_index, int* to, Indices to_index) {
    const kernels::ConstRows source{from, kernels::ElementType::fp32, 1};
    const kernels::Rows target{to, kernels::ElementType::fp32, 1};
    memory.backend().gather_rows({count, 1, source, from_index.device(), target, to_index.device()}, memory.queue());
}

}  // namespace treeline::decoder
