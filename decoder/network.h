// A model with its caches on one device, and a pass over it. What a pass is made of (a chain, a tree, leaves side by side, a
// level of a draft) is written in its index arrays; the layers do not know.
#pragma once

#include <memory>
#include <vector>

#include "decoder/weights.h"

namespace treeline::decoder {

/// What recurrent layers do with the state they start from.
enum class Recurrence {
    advance,     ///< it moves past the pass's tokens, convolution windows as well
    forget,      ///< it is only read
    keep_every,  ///< it is only read; the state after each token is written to slot sequence * tokens + step
    tree,        ///< it is only read, by the tokens of a tree
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
    Indices written_state;  ///< likewise, where `advance` leaves them
    /// [sequences * branches]: windows copied from these slots before they are read (negative: stay); to the slots from
    /// `first_window` on if the pass advances, else aside. None: the windows from `first_window` on are read.
    Indices window_from;
    int first_window = 0;
    Indices row_of;          ///< advance: as in kernels::Scan, sequences that end early; none: all of them are whole
    bool keep_rows = false;  ///< the recurrent layers' activations stay until the next such pass, for Network::replay()

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
    int state_slots = 1;
    int window_slots = 1;
    int moved_rows = 1;  ///< most rows of move_cache()
    int splits = 1;      ///< of attention's context
    kernels::ElementType state_elements = kernels::ElementType::fp32;
};

/// The accepted tokens of a verification pass whose rows were kept.
struct AcceptedRows {
    int sequences = 1, tokens = 1;
    Indices row_of;         ///< [sequences * tokens], a negative one ends a sequence
    Indices initial_state;  ///< [sequences]
    Indices written_state;
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
    void replay(const AcceptedRows& accepted);
    /// The convolution windows alone.
    void advance_windows(const AcceptedRows& accepted);
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
    Cache new_cache(const BlockWeights& block);
    kernels::Rows run(const AttentionWeights& block, Cache& cache, const Pass& pass, kernels::Rows output);
    kernels::Rows run(const Mamba2Weights& block, Cache& cache, const Pass& pass, kernels::Rows output);
    kernels::Rows run(const MlpWeights& block, Cache& cache, const Pass& pass, kernels::Rows output);
    void multiply(const Dense& dense, int rows, kernels::ConstRows x, kernels::Rows y);
    void convolve(const Mamba2Weights& block, const Cache& cache, const Pass& pass, kernels::ConstRows input,
                  kernels::Rows output);
    void scan(const Mamba2Weights& block, const Cache& cache, const Pass& pass, kernels::ConstRows projection,
              kernels::ConstRows convolved);

    NetworkWeights weights_;
    NetworkSizes sizes_;
    Memory& memory_;
    std::unique_ptr<Buffers> buffers_;
    std::vector<Cache> caches_;  ///< of each block
};

}  // namespace treeline::decoder
