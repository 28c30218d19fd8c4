// Rollback: how a target forgets rejected draft tokens. Keys and values are cut off for nothing; recurrent states are not. One
// file a policy beside this interface; a new policy is an enumerator, a file and a line in plan_rollback.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/pass.h"

namespace treeline {

enum class Rollback {
    truncate,   ///< no recurrent state: cut the key-value cache
    replay,     ///< verification writes no state; accepted tokens are replayed from cached activations (ARP)
    snapshot,   ///< verification writes the state after every token; the right one is kept
    recompute,  ///< verification works on a copy; accepted tokens run through the whole target again
};

inline constexpr std::array<Rollback, 4> all_rollbacks = {Rollback::truncate, Rollback::replay, Rollback::snapshot,
                                                          Rollback::recompute};

std::string_view name_of(Rollback rollback);
std::optional<Rollback> rollback_named(std::string_view name);

/// What a policy does to a round: the states that verification writes, the pass that follows, and the memory it holds.
struct RollbackPlan {
    StateWrites verify_writes = StateWrites::final_state;
    CompiledPass pass;  ///< run over the tokens that the state must advance (accepted drafts and the root); may be empty
    double extra_states = 0.0;               ///< copies of a sequence's recurrent state beside the live one
    double states_per_verified_token = 0.0;  ///< further copies for each verified token
    bool caches_activations = false;         ///< keeps each verified token's replay activations
};

RollbackPlan plan_truncate();
RollbackPlan plan_replay(const Model& target, const Precision& precision, const Platform& platform);
RollbackPlan plan_snapshot();
RollbackPlan plan_recompute(const Model& target, const Precision& precision, const Platform& platform);

RollbackPlan plan_rollback(Rollback rollback, const Model& target, const Precision& precision, const Platform& platform);

/// The policies that can serve this target: truncation alone without recurrent state, every other one with it.
std::vector<Rollback> rollbacks_for(const Model& target);

}  // namespace treeline
