// Rollback 'ring': the recurrent states stay put while the inputs of accepted tokens gather in a ring, which every
// verification scans first; the state moves on when the ring could overflow (sim/rollback/ring.cpp).
#pragma once

#include <vector>

#include "decoder/network.h"
#include "decoder/round.h"
#include "decoder/verify_layout.h"

namespace treeline::decoder {

class Ring {
public:
    /// Slots of the recurrent states are the numbers of sequences.
    Ring(const VerifyLayout& layout, bool packed, int depth, const Batch& batch, Memory& memory, IndexTable& table);

    /// Kept rows before those of a verification.
    static int rows(const Batch& batch);
    /// The most outputs of a scan.
    static int most_outputs(const VerifyLayout& layout, const Batch& batch);

    /// The host's part: accepted tokens of the round before go into the ring.
    void take(const std::vector<Outcome>& outcomes);
    /// Then: what the next verification scans.
    void prepare();
    void move_on(Network& network) const;
    void add_to(Pass& pass) const;

private:
    void set_scan_rows(int sequence);
    [[nodiscard]] int kept_row(int sequence, int row) const;

    const VerifyLayout& layout_;
    bool packed_;
    int depth_;
    Batch batch_;
    std::vector<int> fill_;  ///< tokens in the ring of each sequence
    bool flushes_ = false;
    int replayed_ = 0;                      ///< tokens of the ring that scans have room for
    std::vector<kernels::TreeView> trees_;  ///< packed: the tree behind chains of 0, 4, 8, … tokens
    Indices flushed_row_, flushed_state_;   ///< the ring's tokens, where the state moves over them
    Indices put_from_, put_to_;             ///< accepted rows into the ring
    Indices scan_row_of_, output_of_row_;
};

}  // namespace treeline::decoder
