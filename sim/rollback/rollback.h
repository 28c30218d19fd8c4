// Rollback: how a target forgets rejected draft tokens. Truncating keys and values is free; restoring recurrent states is not.
// One file for each policy beside this interface; a new policy is an enumerator, a file and a line in plan_rollback.
#pragma once

#include <string>
#include <vector>

#include "sim/draft_acceptance.h"
#include "sim/pass.h"

namespace treeline::sim {

/// What a policy means for a round: the states that verification writes, further passes, and memory. An empty pass is not run.
struct RollbackPlan {
    StateWrites verify_writes = StateWrites::final_state;
    CompiledPass advance;           ///< over the tokens by which the state must advance: the root and the accepted drafts
    CompiledPass ring_replay;       ///< over the tokens in the ring, within verification
    CompiledPass ring_flush;        ///< writes the state when the ring is full
    bool joins_next_round = false;  ///< accepted tokens are verified again with the next draft
    double extra_states = 0.0;      ///< copies of a sequence's recurrent state beyond those that verification needs
    double states_per_verified_token = 0.0;  ///< further copies for each verified token
    bool caches_activations = false;         ///< keeps the replay activations of each verified token
};

RollbackPlan plan_truncate();
RollbackPlan plan_replay(const Model& target, const Precision& precision, const Platform& platform);
RollbackPlan plan_ring(const Model& target, const Precision& precision, const Platform& platform);
RollbackPlan plan_joint();
RollbackPlan plan_snapshot();
RollbackPlan plan_recompute(const Model& target, const Precision& precision, const Platform& platform);

RollbackPlan plan_rollback(Rollback rollback, const Model& target, const Precision& precision, const Platform& platform);

/// The policies that suit this target: truncation without a recurrent state, all others with one.
std::vector<Rollback> rollbacks_for(const Model& target);

/// Those of them that the stack implements without being told (StatePolicy::rollback_flags), in its own order: the first is
/// what it does by itself. `and_with_flags` adds the others.
std::vector<Rollback> rollbacks_for(const Model& target, const Stack& stack, bool and_with_flags = false);

/// Why a policy cannot follow this way of verifying, as a sentence; empty if it can.
std::string rollback_problem(Rollback rollback, Verification verification);

/// Tokens that fit in one sequence's ring of inputs: several rounds of a typical draft, in far less memory than a state.
inline constexpr int ring_capacity = 32;

/// How full the ring is on average when a verification begins, and how often that verification must write the state.
struct RingUse {
    double mean_tokens = 0.0;
    double flush_probability = 0.0;
};

/// A verification replays the f tokens of the ring. Where f and the most that a round can add (depth + 1) exceed the capacity
/// it writes the state, and the ring starts again with this round's tokens. Exact, by renewal.
RingUse ring_use(const AcceptedTokens& accepted, int capacity);

}  // namespace treeline::sim
