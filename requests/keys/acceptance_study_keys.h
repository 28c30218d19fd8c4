// Keys of `treeline study acceptance`.
#pragma once

#include "requests/keys/shared_keys.h"
#include "sim/sampling/world.h"
#include "sweeps/acceptance_study.h"

namespace treeline::requests::acceptance_study_keys {

using namespace shared_keys;

inline constexpr double most_temperature = 100.0;

inline constexpr PartKey shapes{"shapes", "list", "trees", "`chain:4`, `stree-mil`"};
inline constexpr NumbersKey temperatures{"temperatures", 0.0, most_temperature, "sampling temperatures, at most 16",
                                         "0, 0.3, 0.7, 1"};
inline constexpr NumberKey drafter_temperature{
    "drafter_temperature", "", 0.0, most_temperature, {}, "temperature of the drafter; at 0 it drafts its best tokens",
    "the target's"};
inline constexpr PartKey world{"world", "object", "the synthetic models", "see below"};
inline constexpr CountKey rounds{"rounds", 100, 10'000'000, 16'000, "rounds decoded for each figure"};
inline constexpr PartKey measured{"measured", "object", "accept lengths that the synthetic models should reproduce", "none"};

inline std::vector<KeyRow> rows() {
    return rows_of(title, source, shapes, temperatures, drafter_temperature, world, rounds, measured);
}

}  // namespace treeline::requests::acceptance_study_keys

namespace treeline::requests::world_keys {

using namespace json;

inline constexpr sim::sampling::WorldParameters usual;

inline constexpr CountKey vocabulary{"vocabulary", 2, sim::sampling::most_vocabulary, usual.vocabulary,
                                     "tokens of the synthetic models"};
inline constexpr NumberKey sharpness{"sharpness", "", 0.1, 100.0, usual.sharpness, "spread of the target's logits"};
inline constexpr NumberKey mismatch{"mismatch",
                                    "",
                                    0.0,
                                    1000.0,
                                    usual.mismatch,
                                    "spread of the drafter's error in the logits",
                                    {},
                                    "; not with `measured`, which determines it"};
inline constexpr NumberKey caution{
    "caution",     "",
    -10.0,         100.0,
    usual.caution, "how cautious the drafter is: 0 overconfident, 1 calibrated, above 1 underconfident"};
inline constexpr CountKey worlds{"worlds", 1, 64, 16, "pairs of models to average over"};
inline constexpr CountKey seed{"seed", 0, 1'000'000'000, 1, "seed of the first pair"};

inline std::vector<KeyRow> rows() { return rows_of(vocabulary, sharpness, mismatch, caution, worlds, seed); }

}  // namespace treeline::requests::world_keys

/// `measured`.
namespace treeline::requests::measured_study_keys {

using namespace json;

inline constexpr PartKey shape{"shape", "text or object", "shape they were measured with", "the first of `shapes`"};
inline constexpr ChoiceKey<sim::sampling::Method> method{
    "method", {}, "how their drafts were verified", "token-wise for chains, multi-step for trees"};
inline constexpr PartKey points{"points", "one or two objects", "one determines the mismatch, two the caution as well"};

inline std::vector<KeyRow> rows() { return rows_of(shape, method, points); }

}  // namespace treeline::requests::measured_study_keys

namespace treeline::requests::measured_point_keys {

using namespace json;

inline constexpr NumberKey temperature{"temperature", "", 0.0, acceptance_study_keys::most_temperature, {}, "of the target"};
inline constexpr PartKey accept_length{"accept_length", "tokens", "mean per round, or …"};
inline constexpr NumbersKey per_position{"per_position", 0.0, 1.0, "… by position"};

inline std::vector<KeyRow> rows() { return rows_of(temperature, accept_length, per_position); }

}  // namespace treeline::requests::measured_point_keys
