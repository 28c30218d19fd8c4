#include "sim/rollback/rollback.h"

namespace treeline::sim {

RollbackPlan plan_rollback(Rollback rollback, const Model& target, const Precision& precision, const Platform& platform) {
    switch (rollback) {
        case Rollback::replay:
            return plan_replay(target, precision, platform);
        case Rollback::ring:
            return plan_ring(target, precision, platform);
        case Rollback::joint:
            return plan_joint();
        case Rollback::snapshot:
            return plan_snapshot();
        case Rollback::recompute:
            return plan_recompute(target, precision, platform);
        case Rollback::truncate:
            break;
    }
    return plan_truncate();
}

std::vector<Rollback> rollbacks_for(const Model& target) {
    if (!has_recurrent_state(target)) {
        return {Rollback::truncate};
    }
    return {Rollback::replay, Rollback::ring, Rollback::joint, Rollback::snapshot, Rollback::recompute};
}

std::vector<Rollback> rollbacks_for(const Model& target, const Stack& stack, bool and_with_flags) {
    if (!has_recurrent_state(target)) {
        return {Rollback::truncate};
    }
    std::vector<Rollback> rollbacks = stack.states.rollbacks;
    std::erase_if(rollbacks, [&](Rollback rollback) {
        return rollback == Rollback::truncate || (!and_with_flags && stack.states.rollback_flags.contains(rollback));
    });
    return rollbacks;
}

std::string rollback_problem(Rollback rollback, Verification verification) {
    const auto cannot = [&](const char* why) {
        return "'" + std::string(name_of(rollback)) + "' cannot follow verification '" + std::string(name_of(verification)) +
               "': " + why;
    };
    if (rollback == Rollback::joint && verification == Verification::packed) {
        return cannot("it adds a row to rows that are padded on the left, and a packed tree has none");
    }
    if (verification == Verification::unrolled_chunk && (rollback == Rollback::snapshot || rollback == Rollback::ring)) {
        return cannot("the chunk scan starts from the live state and returns the last one only");
    }
    return {};
}

}  // namespace treeline::sim
