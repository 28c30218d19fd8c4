// What a compiled round consists of: steps, each a pass at one shape, and rows, the steps and the memory of one speculation.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/critical.h"
#include "sim/draft_acceptance.h"
#include "sim/host_times.h"
#include "sim/units.h"

namespace treeline::sim {

/// The passes that rounds are made of, in the order in which both faces add them up.
enum class PassId {
    plain,            ///< plain decoding, n = 1: the baseline
    draft,            ///< the drafter, token by token
    draft_tree,       ///< the drafter on nodes of one sequence, with tree attention
    draft_copy,       ///< copies of the drafter's recurrent states
    draft_inner,      ///< what drafts for the drafter of a cascade
    draft_markov,     ///< a head that goes through the drafts of one pass
    draft_context,    ///< the last round, read by a block drafter or in a pass of its own (CatchUp::apart)
    verify_unrolled,  ///< the target, one for each way of verifying
    verify_chunk,
    verify_packed,
    advance,      ///< the rollback policy's own pass over accepted tokens
    ring_replay,  ///< what it adds to the verification
    ring_flush,
    state_copy,  ///< the target's recurrent states, to the rows of the next verification
    compaction,  ///< keys and values of the accepted path of a tree
};
inline constexpr std::size_t pass_count = 15;

/// What a pass counts as.
enum class Phase { plain, draft, verify, rollback };
inline constexpr std::size_t phase_count = 4;

/// One pass of a round at one shape; rows and runs are per sequence of the batch.
struct RoundStep {
    Phase phase = Phase::plain;
    double rows = 1.0;    ///< sequences of the pass
    double tokens = 1.0;  ///< of a row
    double logits = 1.0;  ///< of a row
    double context_offset = 0.0;
    double runs = 1.0;   ///< times it runs in a round; a probability if it does not always run
    double apart = 0.0;  ///< how sequences share its passes (passes_of): 0 all in one, 1 each in its own
    double share = 1.0;  ///< of the sequences that need it, each by chance; above 0
};

/// The passes that a step takes for the sequences of a batch, one after the other, and the sequences in each of them.
struct StepPasses {
    double sequences = 1.0, passes = 1.0;
};
/// s^(1 - apart) in each of s^apart passes. Where it is unknown whether an engine runs them together, ½ prices the geometric
/// middle of both. Of a step that a share of the sequences needs, 1 - (1 - share)^s passes in the mean, since it runs where any
/// of them does, with those that do.
inline StepPasses passes_of(const RoundStep& step, double sequences) {
    if (step.share < 1.0) {
        const double passes = 1.0 - std::pow(1.0 - step.share, sequences);
        return {sequences * step.share / passes, passes};
    }
    if (step.apart == 0.0) {
        return {sequences, 1.0};
    }
    const double passes = std::pow(sequences, step.apart);
    return {sequences / passes, passes};
}

/// What one sequence takes of an accelerator, which serves one sequence after the other, whatever the context. Zero on
/// platforms that are priced by passes.
struct SequenceTurn {
    Seconds plain, draft, verify;  ///< replay of accepted tokens is part of the verification
    Joules energy;                 ///< of a round, beside the idle power: bytes moved, products formed
    Bytes workspace;               ///< states of a draft, kept only for the sequence being served
};

/// A pass of such a turn, for explanations.
struct TurnPass {
    Phase phase = Phase::plain;
    std::string name;     ///< "draft, 3 tokens"
    double tokens = 1.0;  ///< run at once
    double runs = 1.0;
    Seconds time;
    Flops flops;  ///< of the Linear unit
    Bytes bytes;  ///< through the board's memory
    Bound bound = Bound::memory;
};

/// The plain numbers of a RoundRow, which loops over points copy.
struct RowConstants {
    double speculates = 0.0;     ///< 1, or 0 for plain decoding
    double holds_drafter = 0.0;  ///< 1 where the drafter's weights and caches are in memory; plain decoding runs without them
    double draft_tokens = 0.0;   ///< nodes
    double drafted = 0.0;        ///< of them, what a sequence drafts in the mean, where look-ups find nothing or end early
    double depth = 0.0;
    double target_states = 1.0;       ///< copies of the target's recurrent state, the live one included
    double draft_states = 0.0;        ///< of the drafter's
    double cached_activations = 0.0;  ///< tokens whose replay activations are kept
    double logits = 1.0;              ///< tokens whose logits are kept at once
    double activations = 1.0;         ///< tokens of the verification pass
    double new_tokens = 1.0;          ///< tokens that the key-value caches grow by before truncation
    double graphs = 1.0;              ///< captured graphs: one for each shape of a pass
    double kept = 1.0;                ///< share of what rounds yield that answers keep: kept_share()
    HostLine host;                    ///< beside the passes of a round that drafts, for each sequence of a pass
    Seconds host_chain;               ///< least time of a round: all that the host does in it, one after the other
    SequenceTurn turn;
};

/// A speculation within a compiled round: its steps, what they yield, and what it keeps in memory for each sequence.
struct RoundRow : RowConstants {
    std::string problem;           ///< why it cannot be run, as a sentence; the rest is unset then
    double branched = 0.0;         ///< 1 for a draft with branches
    double grown = 0.0;            ///< 1 for a tree whose shape differs from round to round
    double unrolled_tokens = 0.0;  ///< tokens of a branched draft that is verified in rows
    AcceptedTokens accepted;
    std::vector<TurnPass> turn_passes;

    /// Its steps of pass p are CompiledRound::steps[begin[p]] … steps[begin[p + 1]] (exclusive).
    std::array<std::uint32_t, pass_count + 1> begin{};

    [[nodiscard]] double accept_length() const { return accepted.length; }
    /// Of these, what answers keep in the mean.
    [[nodiscard]] double kept_length() const { return accepted.length * kept; }
};

}  // namespace treeline::sim
