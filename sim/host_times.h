// Host time of steps and rounds, by what it is counted by. A stack has a time for each driver (Stack::host); a
// round counts its drivers once for each of its rows, and evaluation sees a constant and a slope by sequences.
#pragma once

#include <array>
#include <cstddef>

#include "sim/units.h"

namespace treeline::sim {

struct Stack;

/// What the host's time beside passes is counted by.
enum class HostDriver {
    // Of a round that drafts:
    round,
    tree,               ///< a round whose draft has branches
    synchronous_round,  ///< a round whose drafter reads sampled tokens on the host
    recurrent_round,    ///< a round whose target has recurrent states
    mixing_layer,       ///< each layer of the target that mixes tokens, but for `latent_piece`
    latent_piece,       ///< each layer of latent attention whose verification is captured in pieces
    shared_layer,       ///< each layer of the target whose cached tokens ranks share
    draft_state,        ///< each recurrent layer of the drafter
    reshaped_layer,     ///< each layer of the drafter, in each of its passes that has another shape than the one before
    // Of each sequence of a round:
    synchronous_sequence,
    draft_token,     ///< each token of a draft, root included
    sparse_token,    ///< the same in each layer whose latent attention picks what it reads
    tree_token,      ///< each token of a draft with branches, root included
    grown_token,     ///< the same where the tree is another one in each round
    unrolled_token,  ///< each token of a draft with branches that is verified in rows
    drafted_entry,   ///< each entry of the vocabulary, for each token that a draft model drafts
    // Of each sequence of a step, plain or verifying:
    sequence,
    token,
    emitted_token,  ///< each token that it yields: the accept length of a round
    emitted_entry,  ///< each entry of the vocabulary, for each of those
};
inline constexpr std::size_t host_driver_count = 20;

/// Drivers from this one on are counted for each sequence.
inline constexpr HostDriver first_of_sequences = HostDriver::synchronous_sequence;

/// Seconds or counts by driver.
template <class Value>
struct ByDriver {
    std::array<Value, host_driver_count> values{};

    Value& operator[](HostDriver driver) { return values[static_cast<std::size_t>(driver)]; }
    const Value& operator[](HostDriver driver) const { return values[static_cast<std::size_t>(driver)]; }
};
using HostTimes = ByDriver<Seconds>;
using HostCounts = ByDriver<double>;

/// A time that does not depend on the sequences, and one for each of them.
struct HostLine {
    Seconds fixed, per_sequence;

    [[nodiscard]] Seconds at(double sequences) const { return fixed + per_sequence * sequences; }
    HostLine& operator*=(double factor) {
        fixed *= factor;
        per_sequence *= factor;
        return *this;
    }
};

/// What a stack takes for one of each: its own times, and launches of what is not in a graph.
HostTimes host_times(const Stack& stack);

/// All drivers but those of steps (`sequence` and after) for so many of each.
HostLine line_of_round(const HostTimes& times, const HostCounts& counts);

/// Of each sequence of a step with so many tokens.
Seconds step_of_sequence(const HostTimes& times, double tokens);

/// Of each token that a sequence's step yields, sampled from a vocabulary of so many entries.
Seconds step_of_emitted_token(const HostTimes& times, double vocabulary);

}  // namespace treeline::sim
