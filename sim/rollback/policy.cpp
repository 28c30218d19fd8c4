#include "sim/rollback/policy.h"

namespace treeline {

std::string_view name_of(Rollback rollback) {
    switch (rollback) {
        case Rollback::truncate:
            return "truncate";
        case Rollback::replay:
            return "replay";
        case Rollback::ring:
            return "ring";
        case Rollback::joint:
            return "joint";
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

}  // namespace treeline
