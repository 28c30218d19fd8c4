#include "sim/rollback/rollback.h"

namespace treeline {

std::string_view name_of(Rollback rollback) {
    switch (rollback) {
        case Rollback::truncate:
            return "truncate";
        case Rollback::replay:
            return "replay";
        case Rollback::snapshot:
            return "snapshot";
        case Rollback::recompute:
            return "recompute";
    }
    return "";
}

std::optional<Rollback> rollback_named(std::string_view name) {
    for (const Rollback rollback : all_rollbacks) {
        if (name_of(rollback) == name) {
            return rollback;
        }
    }
    return std::nullopt;
}

RollbackPlan plan_rollback(Rollback rollback, const Model& target, const Precision& precision, const Platform& platform) {
    switch (rollback) {
        case Rollback::replay:
            return plan_replay(target, precision, platform);
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
    return {Rollback::replay, Rollback::snapshot, Rollback::recompute};
}

}  // namespace treeline
