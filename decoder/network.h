// A model with its caches on one device, and a pass over it. What a pass is made of (a chain, a tree, leaves side by side, a
// level of a draft) is written in its index arrays; the layers do not know.
#pragma once

#include <memory>
#include <vector>

#include "decoder/weights.h"
#include "kernels/attention.h"

namespace treeline::decoder {

/// What recurrent layers do with the state they start from.
enum class Recurrence {
    advance,     ///< it moves past the pass's tokens, convolution windows as well
    forget,      ///< it is only read
    keep_every,  ///< it is only read; the state after each token is written to slot sequence * tokens + step
    tree,        ///< it is only read, by the tokens of a tree
    keep_tree,   ///< likewise, level by level; the state after each token is written, see TreeLevel
};

/// Tokens of one level of a tree, in all sequences.
struct TreeLevel {
    int tokens = 1, first = 0;  ///< of the pass's tokens, level by level
    Indices row_of;             ///< [tokens]: rows of the pass
    Indices parent_state;       ///< [tokens]: slots that they start from
    Indices own_state;          ///< [tokens]: slots that they leave their states in
};

/// The tokens of one pass: `sequences` times `tokens` rows, a sequence's next to each other.
struct Pass {
    int sequences = 1, tokens = 1;
    const int* ids = nullptr;  ///< [rows]; a negative one is padding
    Indices positions;         ///< [rows]: places in the text
    Indices cache_rows;        ///< [rows]: where keys and values go, sequence * positions + place; negative: nowhere
    Indices context;           ///< [sequences]: positions before the pass's tokens (or before its tree)
    kernels::TreeView tree;    ///< of attention and Recurrence::tree; none: a chain
    int first_token = 0;       ///< as in kernels::Attention

    Recurrence recurrence = Recurrence::advance;
    /// Recurrent layers see `sequences * branches` sequences of tokens / branches: leaves side by side, or nodes of a level.
    int branches = 1;
    Indices initial_state;  ///< [sequences * branches]: slots that they start from
    Indices written_state;  ///< also where `advance` leaves them
    /// [sequences * branches]: windows copied from these slots before they are read (negative: stay); to the slots from
    /// `first_window` on if the pass advances, else aside. None: the windows from `first_window` on are read.
    Indices window_from;
    int first_window = 0;
    Indices row_of;  ///< advance: as in kernels::Scan, sequences that end early; none: all of them are whole
    /// Windows are only read, though the pass advances; then they move on by the rows of `advanced`.
    bool windows_apart = false;
    Indices advanced;  ///< [sequences][advanced_tokens]; a negative one ends a sequence
    int advanced_tokens = 0;
    bool keep_rows = false;  ///< the recurrent layers' activations stay until the next such pass, for Network::replay()

    /// What scans see instead of the pass's rows in order: rows among the kept ones (NetworkSizes::ring_rows first).
    int scan_tokens = 0;            ///< of each branch; 0: the pass's
    Indices scan_row_of;            ///< [sequences * branches * scan_tokens]; a negative one ends a sequence
    kernels::TreeView scan_tree;    ///< scanned as a tree; none: as `recurrence` says
    Indices output_of_row;          ///< [rows]: which of the scan's outputs is that of a row; none: its own
    std::vector<TreeLevel> levels;  ///< of keep_tree

    int logits = 0;      ///< rows with logits; 0: none are wanted
    Indices logit_rows;  ///< which; none: all rows

    [[nodiscard]] int rows() const { return sequences * tokens; }
};

struct NetworkSizes {
    int sequences = 1;
    int positions = 1;      ///< of a sequence in the KV caches
    int most_rows = 1;      ///< of a pass
    int most_logits = 1;    ///< rows of a pass with logits
    int most_branches = 1;  ///< sequences of recurrent layers that are not in windows of their own
    int kept_rows = 0;      ///< of passes with keep_rows
    int ring_rows = 0;      ///< rows before these that passes leave alone, and one that changes no state behind them
    int scan_outputs = 0;   ///< most outputs of scans with output_of_row
    int state_slots = 1;
    int window_slots = 1;
    int moved_rows = 1;          ///< most rows of move_cache()
    int longest_text = 1;        ///< what a share of the context is a share of
    bool cuts_contexts = false;  ///< attention takes a context in parts (kernels::attention_splits)
    kernels::ElementType state_elements = kernels::ElementType::fp32;

    /// Of the context of an attention with so many key-value heads.
    [[nodiscard]] int splits_of(int kv_heads) const {
        return cuts_contexts ? kernels::attention_splits(sequences, kv_heads, positions) : 1;
    }
};

/// Accepted tokens of verification passes whose rows were kept.
struct AcceptedRows {
    int sequences = 1, tokens = 1;
    Indices row_of;         ///< [sequences * tokens] among the kept rows (the ring's first); a negative one ends a sequence
    Indices initial_state;  ///< [sequences]; a negative one leaves the sequence out
    Indices written_state;
};

/// Activations of a recurrent block; what its kind does not have is empty.
struct RecurrentRows {
    kernels::Rows projection;  ///< of the block's input
    kernels::Rows convolved;
    kernels::Rows selected;  ///< Mamba (1): step sizes in low rank, B, C; Mamba-2 that shares them: x and B of every head
    kernels::Rows steps;     ///< Mamba (1): a step size per channel
};

/// The parameters of a scan of any recurrent kind: kernels::Scan or kernels::TreeScan without tokens.
struct ScanPlan {
    int sequences = 1, tokens = 1;
    const int* row_of = nullptr;
    kernels::TreeView tree;  ///< none: chains
    kernels::States states;  ///< read and written
    const int* state_of = nullptr;
    kernels::Rows y;  ///< none: states alone
    kernels::StateWrite write = kernels::StateWrite::none;
    const int* written_to = nullptr;
};

class Network {
public:
    Network(NetworkWeights weights, const NetworkSizes& sizes, Memory& memory);
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;
    ~Network();

    void forward(const Pass& pass);
    /// [row of the last pass's logits] fp32, vocabulary wide.
    [[nodiscard]] kernels::ConstRows logits() const;

    /// Keys and values of cache rows `from` go to `to`; a pair with a negative member is left out. At most `moved_rows`.
    void move_cache(int rows, Indices from, Indices to);
    /// The recurrent states move on by accepted tokens, from the activations kept.
    void replay_states(const AcceptedRows& accepted);
    /// The convolution windows likewise.
    void advance_windows(const AcceptedRows& accepted);
    /// Kept rows copied among each other.
    void copy_kept_rows(int count, Indices from, Indices to);
    /// Recurrent states copied between slots.
    void copy_states(int count, Indices from, Indices to);

    /// Random keys, values, states and windows of the first `tokens` positions, the same for networks that share first layers.
    void fill_context(int tokens, Indices state_slot, std::uint64_t seed);

    [[nodiscard]] const NetworkWeights& weights() const { return weights_; }
    void wait() { memory_.backend().wait(memory_.queue()); }

private:
    struct Buffers;
    struct Cache;
    void allocate_buffers();
    void allocate_expert_buffers();
    Cache new_cache(const BlockWeights& block);
    Cache cache_of(const AttentionWeights& block);
    Cache cache_of(const LatentAttentionWeights& block);
    template <RecurrentWeights Block>
    Cache cache_of(const Block& block);
    template <class Block>
    Cache cache_of(const Block& block);
    void add_rotary_table(int head_dim);
    template <RecurrentWeights Block>
    void write_row_without_effect(const Block& block, const RecurrentRows& kept, std::int64_t row);
    kernels::Rows run(const AttentionWeights& block, Cache& cache, const Pass& pass, kernels::Rows output);
    kernels::Rows run(const LatentAttentionWeights& block, Cache& cache, const Pass& pass, kernels::Rows output);
    kernels::Rows run(const MlpWeights& block, Cache& cache, const Pass& pass, kernels::Rows output);
    kernels::Rows run(const ExpertsWeights& block, Cache& cache, const Pass& pass, kernels::Rows output);
    template <RecurrentWeights Block>
    kernels::Rows run(const Block& block, Cache& cache, const Pass& pass, kernels::Rows output);
    void cache_keys_values(const AttentionWeights& block, const Cache& cache, const Pass& pass);
    void normalise(const NormWeights& norm, int rows, kernels::ConstRows x, kernels::Rows residual, kernels::Rows output);
    void multiply(const Dense& dense, int rows, kernels::ConstRows x, kernels::Rows y);
    void activate(bool gated, int rows, int hidden, kernels::ConstRows up, kernels::Rows output);
    void convolve(const Convolution& convolution, const Cache& cache, const Pass& pass, kernels::ConstRows input,
                  kernels::Rows output);
    template <RecurrentWeights Block>
    void scan_pass(const Block& block, const Cache& cache, const Pass& pass, const RecurrentRows& rows);

    /// How each recurrent kind scans its rows.
    void scan(const Mamba1Weights& block, const RecurrentRows& rows, const ScanPlan& plan);
    void scan(const Mamba2Weights& block, const RecurrentRows& rows, const ScanPlan& plan);
    void scan(const GatedDeltaWeights& block, const RecurrentRows& rows, const ScanPlan& plan);
    /// From the convolution to what the scan reads, and from the scan's outputs (in Buffers::mixed) to those of the block.
    void select(const Mamba1Weights& block, int rows, const RecurrentRows& at);
    void select(const Mamba2Weights& block, int rows, const RecurrentRows& at);
    void select(const GatedDeltaWeights& block, int rows, const RecurrentRows& at);
    void finish(const Mamba1Weights& block, int rows, const RecurrentRows& at, kernels::Rows output);
    void finish(const Mamba2Weights& block, int rows, const RecurrentRows& at, kernels::Rows output);
    void finish(const GatedDeltaWeights& block, int rows, const RecurrentRows& at, kernels::Rows output);

    NetworkWeights weights_;
    NetworkSizes sizes_;
    Memory& memory_;
    std::unique_ptr<Buffers> buffers_;
    std::vector<Cache> caches_;  ///< of each block
};

}  // namespace treeline::decoder
