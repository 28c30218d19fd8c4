// The names of rollback policies. A new one is an enumerator here, a file beside this one, and a line in plan_rollback().
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace treeline {

enum class Rollback {
    truncate,   ///< no recurrent state: cut the key-value cache
    replay,     ///< verification writes no state; accepted tokens are replayed from cached activations (ARP)
    ring,       ///< verification replays the accepted tokens since a checkpoint, and writes the state when their ring is full
    joint,      ///< the next verification carries the accepted tokens along, and one more row attains the state (JAA)
    snapshot,   ///< verification writes the state after every token; the right one is kept
    recompute,  ///< verification works on a copy; accepted tokens run through the whole target again
};

inline constexpr std::array<Rollback, 6> all_rollbacks = {Rollback::truncate, Rollback::replay,   Rollback::ring,
                                                          Rollback::joint,    Rollback::snapshot, Rollback::recompute};

std::string_view name_of(Rollback rollback);
std::optional<Rollback> rollback_named(std::string_view name);

}  // namespace treeline
