// Rollback 'joint': the recurrent states stay one root behind. A verification runs the accepted drafts of the round before,
// the new root and the new drafts, and one more row the accepted drafts and the root alone, whose final state is where the next
// round starts (sim/rollback/joint.cpp). Rows are filled up behind their tokens, not before them, which costs the same.
#pragma once

#include <vector>

#include "decoder/network.h"
#include "decoder/round.h"
#include "decoder/verify_layout.h"

namespace treeline::decoder {

class Joint {
public:
    Joint(const VerifyLayout& layout, int depth, bool by_chunks, const Batch& batch, Memory& memory, IndexTable& table);

    /// Rows of a sequence's longest verification.
    static int most_rows(const VerifyLayout& layout, int depth) { return (layout.branches + 1) * (2 * depth + 1); }
    static int state_slots(const VerifyLayout& layout, const Batch& batch) { return batch.sequences * (layout.branches + 2); }
    /// Where a sequence's state stands before the first round.
    [[nodiscard]] int first_live_slot(int sequence) const;

    /// The host's part: the accepted drafts of the round before (none before the first), then the rows of this round.
    void prepare(const std::vector<Outcome>& outcomes, const std::vector<Text>& texts);
    /// The pass of this round, its ids gathered from the draft.
    [[nodiscard]] Pass pass(const int* draft_ids) const;

private:
    void set_row(int sequence, int branch, int i, const Text& text);
    [[nodiscard]] int live_slot(int sequence, int which) const;

    const VerifyLayout& layout_;
    int depth_, rows_of_branch_ = 0;  ///< of this round
    bool by_chunks_;
    Batch batch_;
    Memory& memory_;
    std::vector<int> carried_;                 ///< accepted drafts of each sequence that run again
    std::vector<kernels::TreeView> attended_;  ///< by the most carried drafts of a sequence
    std::vector<kernels::TreeView> scanned_;   ///< likewise, one row as a chain
    int live_ = 0;                             ///< which of a sequence's two slots holds its state
    int* ids_ = nullptr;
    Indices known_ids_, known_rows_, id_of_row_;  ///< ids that the host knows and where they go; those of the draft
    Indices positions_, cache_rows_, context_, row_of_, initial_state_, written_state_, window_from_, advanced_, logit_rows_;
};

}  // namespace treeline::decoder
