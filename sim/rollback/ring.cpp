#include <vector>

#include "sim/rollback/rollback.h"

namespace treeline::sim {

// Checkpoint and input ring: S to read the state, p_flush·S to write it; replay within the scan that reads it:
// docs/cost-model.md, section 3.3.
RollbackPlan plan_ring(const Model& target, const Precision& precision, const Platform& platform) {
    RollbackPlan plan;
    plan.verify_writes = StateWrites::none;
    plan.caches_activations = true;
    plan.ring_replay = compile_operations(replay_operations(target, precision, platform.ranks, Replay::within_verification),
                                          precision, platform, Seconds(0.0));
    plan.ring_flush =
        compile_operations(state_write_operations(target, precision, platform.ranks), precision, platform, Seconds(0.0));
    return plan;
}

RingUse ring_use(const AcceptedTokens& accepted, int capacity) {
    const std::size_t most = accepted.exactly.size();  // tokens that a round can add: the root and every draft
    const auto size = static_cast<std::size_t>(capacity);
    const std::size_t flush_above = size > most ? size - most : 0;

    // A cycle begins after a flush with the tokens of one round and only fills the ring until the next flush, so the expected
    // visits to each fill follow in one pass; each cycle has exactly one visit above the limit.
    std::vector<double> visits(flush_above + most + 1, 0.0);
    const auto fill_from = [&](std::size_t tokens, double probability) {
        for (std::size_t drafts = 0; drafts < most; ++drafts) {
            visits[tokens + drafts + 1] += probability * accepted.exactly[drafts];
        }
    };
    fill_from(0, 1.0);
    double rounds = 0.0;
    double tokens_replayed = 0.0;
    for (std::size_t tokens = 1; tokens < visits.size(); ++tokens) {
        rounds += visits[tokens];
        tokens_replayed += visits[tokens] * static_cast<double>(tokens);
        if (tokens <= flush_above) {
            fill_from(tokens, visits[tokens]);
        }
    }
    return {tokens_replayed / rounds, 1.0 / rounds};
}

}  // namespace treeline::sim
