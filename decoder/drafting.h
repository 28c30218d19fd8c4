// The drafter's side of a round.
#pragma once

#include <memory>
#include <vector>

#include "decoder/decode.h"
#include "decoder/network.h"
#include "decoder/prompt.h"
#include "decoder/round.h"

namespace treeline::decoder {

/// Fills the draft ids of every round.
class Drafting {
public:
    Drafting() = default;
    Drafting(const Drafting&) = delete;
    Drafting& operator=(const Drafting&) = delete;
    virtual ~Drafting() = default;

    virtual void read_prompt(const std::vector<Text>& /*texts*/, PromptReader& /*reader*/, std::uint64_t /*seed*/) {}
    /// The host's part, before the index table is uploaded; arguments as those of Verifier::prepare.
    virtual void prepare(const std::vector<Outcome>& outcomes, const std::vector<Text>& texts) = 0;
    /// The device's part: RoundResult::draft_ids, roots included.
    virtual void draft() = 0;
};

/// Ids that the host knows: the roots and, from a look-up, drafts. Without a look-up for plain decoding.
class HostDrafting final : public Drafting {
public:
    HostDrafting(const sim::DraftTree& tree, std::optional<NgramLookup> lookup, const Batch& batch, Memory& memory,
                 IndexTable& table, int* draft_ids);
    void prepare(const std::vector<Outcome>& outcomes, const std::vector<Text>& texts) override;
    void draft() override;

private:
    const sim::DraftTree& tree_;
    std::optional<NgramLookup> lookup_;
    Batch batch_;
    Memory& memory_;
    Indices ids_;
    int* draft_ids_;
};

/// Up to `count` different tokens that followed earlier occurrences of the last tokens of `text`: those after the longest
/// matches first, of equal lengths the most recent. Public for tests.
std::vector<int> ngram_continuations(const std::vector<int>& text, int longest_match, int count);

/// A model that drafts level by level. Only tokens with children are run: the root with what the last round left over (a last
/// draft that was accepted, so one or two tokens of a sequence), then each level's inner nodes. Keys and values of the inner
/// nodes lie behind the context as a tree; each inner node has a slot for its recurrent state, so that after a round the
/// drafter goes on from the deepest accepted one.
class ModelDrafting final : public Drafting {
public:
    ModelDrafting(const DecodeSetup& setup, const Batch& batch, NetworkWeights weights, Memory& memory, IndexTable& table,
                  int* draft_ids, int most_prompt_rows);
    void read_prompt(const std::vector<Text>& texts, PromptReader& reader, std::uint64_t seed) override;
    void prepare(const std::vector<Outcome>& outcomes, const std::vector<Text>& texts) override;
    void draft() override;

private:
    /// A pass over the inner nodes of one level, and the choice of their children.
    struct Level {
        int begin = 0, nodes = 0;  ///< in the tree of inner nodes
        int choices = 1;           ///< most children of a node
        Indices ids_from;          ///< where this level's ids stand in the draft ids
        Indices positions, cache_rows, parent_state, own_state;
        Indices child_from, child_to;  ///< from the choices of each row to the draft ids
    };
    void add_level(int level, const std::vector<int>& inner_of_node, IndexTable& table);
    void go_back(const std::vector<Outcome>& outcomes);
    void catch_up(const std::vector<Text>& texts);
    void run_root();
    void run_level(const Level& level);
    void choose_children(const Level& level);
    [[nodiscard]] int state_slot(int sequence, int inner) const;

    Batch batch_;
    sim::DraftTree tree_, inner_tree_;  ///< the draft, and its tokens that have children
    std::vector<int> node_of_inner_;    ///< in the draft
    std::vector<Level> levels_;         ///< the root's first
    Memory& memory_;
    Network network_;
    kernels::TreeView inner_view_;
    int* draft_ids_;
    int* level_ids_ = nullptr;
    int* choices_ = nullptr;
    std::vector<int> known_;     ///< tokens of each text that the caches hold
    std::vector<int> contexts_;  ///< of the last round's roots
    bool first_round_ = true;
    int catch_up_tokens_ = 1;

    Indices root_ids_, root_place_, context_, move_from_, move_to_;
    Indices catch_up_ids_, catch_up_positions_, catch_up_cache_rows_, catch_up_context_, catch_up_row_, catch_up_logit_;
    Indices live_state_, root_state_, window_from_;
};

}  // namespace treeline::decoder
