// The names of rollback policies. A new one is an enumerator here, a file beside this one, and a line in plan_rollback().
#pragma once

#include "sim/enum_names.h"

namespace treeline::sim {

enum class Rollback {
    truncate,   ///< no recurrent state: cut the key-value cache
    replay,     ///< verification writes no state; accepted tokens are replayed from cached activations (ARP)
    ring,       ///< verification replays the accepted tokens since a checkpoint, and writes the state when their ring is full
    joint,      ///< the next verification carries the accepted tokens along, and one more row attains the state (JAA)
    snapshot,   ///< verification writes the state after every token; the right one is kept
    recompute,  ///< verification works on a copy; accepted tokens run through the whole target again
};
constexpr auto names_in(Rollback) {
    using enum Rollback;
    return enum_names<Rollback>({{truncate, "truncate"},
                                 {replay, "replay"},
                                 {ring, "ring"},
                                 {joint, "joint"},
                                 {snapshot, "snapshot"},
                                 {recompute, "recompute"}});
}

inline constexpr auto all_rollbacks = values_of<Rollback>();

}  // namespace treeline::sim
