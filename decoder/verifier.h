// The target's side of a round: verification, acceptance, and the rollback of its caches and states.
#pragma once

#include <optional>
#include <vector>

#include "decoder/decode.h"
#include "decoder/joint.h"
#include "decoder/network.h"
#include "decoder/ring.h"
#include "decoder/round.h"
#include "decoder/verify_layout.h"

namespace treeline::decoder {

class Verifier {
public:
    Verifier(const DecodeSetup& setup, const Batch& batch, NetworkWeights weights, Memory& memory, IndexTable& table,
             int most_prompt_rows);

    [[nodiscard]] Network& network() { return network_; }
    [[nodiscard]] const RoundResult& result() const { return result_; }
    /// Slots of the recurrent states that stand, [sequences].
    [[nodiscard]] Indices live_states() const { return live_state_; }

    /// The host's part, before the index table is uploaded: the outcomes of the round before (none before the first round),
    /// and the texts with these outcomes in them.
    void prepare(const std::vector<Outcome>& outcomes, const std::vector<Text>& texts);
    void rollback();
    void verify();
    void accept();
    /// The host's part after acceptance: reads the result. Given paths (of nodes, one for each sequence) replace the greedy
    /// ones.
    std::vector<Outcome> outcomes(const std::vector<std::vector<int>>& given_paths);
    /// The least that the chosen logits of these outcomes were above the next ones, in standard deviations of their rows.
    double margin(const std::vector<Outcome>& outcomes);

private:
    void add_indices(IndexTable& table);
    void add_tree_levels(IndexTable& table);
    [[nodiscard]] Outcome greedy_outcome(int sequence) const;
    void prepare_rollback(int sequence, const Outcome& outcome, int context);
    void prepare_recompute(const std::vector<Outcome>& outcomes);
    [[nodiscard]] AcceptedRows accepted_rows() const;
    [[nodiscard]] Pass verify_pass() const;
    [[nodiscard]] Pass recompute_pass() const;
    void set_live_state(int sequence, int slot);

    const DecodeSetup& setup_;
    Batch batch_;
    VerifyLayout layout_;
    bool recurrent_, plain_, snapshots_;
    Memory& memory_;
    Network network_;
    kernels::TreeView attended_, walked_;
    RoundResult result_;
    std::vector<int> downloaded_;  ///< the result on the host
    int* verify_ids_ = nullptr;    ///< [sequences][rows], where rows are not the tree's tokens
    std::vector<int> contexts_;    ///< of the round that runs

    Indices id_of_row_, positions_, cache_rows_, context_, branch_state_, branch_window_;
    Indices live_state_, accepted_row_, move_from_, move_to_, picked_state_;
    Indices again_ids_, again_positions_, again_cache_rows_, again_context_, again_row_;
    int again_tokens_ = 1;  ///< of a sequence in the pass that recomputes

    std::optional<Ring> ring_;
    std::optional<Joint> joint_;
    std::vector<TreeLevel> tree_levels_;  ///< snapshots of a packed tree
    Indices output_of_row_;               ///< likewise
    kernels::TreeView scanned_;           ///< a path, where chunks are scanned
};

}  // namespace treeline::decoder
