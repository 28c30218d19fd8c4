// Keys of `treeline study break-even`, and of times by tokens.
#pragma once

#include "calibrate/runtime_law.h"
#include "requests/keys/shared_keys.h"
#include "sim/trees/optimal_tree.h"

namespace treeline::requests::break_even_keys {

using namespace shared_keys;

inline constexpr PartKey tree{"tree", "object", "trees, and the times of their rounds"};
inline constexpr PartKey chain{"chain", "object", "the chain to beat"};
inline constexpr PartKey acceptance{"acceptance", "object", "for timed rounds", "none",
                                    "; without it only the needed ratio is given"};

inline std::vector<KeyRow> rows() { return rows_of(title, source, tree, chain, acceptance); }

}  // namespace treeline::requests::break_even_keys

/// `tree` and `chain`.
namespace treeline::requests::side_keys {

using namespace json;
using shared_keys::verification;

inline constexpr PartKey verify{"verify", "object", "times of verification by tokens, or …"};
inline constexpr PartKey simulate{"simulate", "object", "… a set-up to price", {}, ". A chain without either takes the tree's"};
inline constexpr PartKey drafting{"drafting", "object", "with `verify`: times of drafting", "none"};
inline constexpr AxisKey nodes{"nodes", 1, sim::most_optimal_nodes, "of `tree`: sizes, each with its best tree"};
inline constexpr CountKey depth{"depth", 1, sim::most_optimal_depth, 8, "of `tree`: most levels"};
inline constexpr CountKey children{"children",     0, sim::most_optimal_children, 0, "of `tree`: most children of a node",
                                   "0, any number"};
inline constexpr PartKey shapes{"shapes", "list", "of `tree`: these instead of `nodes`", "none"};
inline constexpr AxisKey draft_tokens{"draft_tokens", 0, sim::most_draft_tokens, "of `chain`; the fastest is used"};
inline constexpr NumberKey accept_length{"accept_length",      "tokens", 1.0, sim::most_draft_tokens + 1.0, {}, "of `chain`",
                                         "from the acceptance"};

inline std::vector<KeyRow> rows() {
    return rows_of(verify, simulate, drafting, nodes, depth, children, shapes, verification, draft_tokens, accept_length);
}

}  // namespace treeline::requests::side_keys

namespace treeline::requests::simulated_keys {

using namespace shared_keys;

inline constexpr PartKey drafter{"drafter", "object", "who drafts"};

inline std::vector<KeyRow> rows() { return rows_of(target, platform, drafter, batch, context, rollback, decoding); }

}  // namespace treeline::requests::simulated_keys

namespace treeline::requests::drafting_keys {

using namespace json;

inline constexpr std::string_view time = "quantity in ms (`value`, `unit`, `source`, `kind`)";
inline constexpr PartKey fixed{"fixed", time, "of a round", "0"};
inline constexpr PartKey per_level{"per_level", time, "of each level", "0"};
inline constexpr PartKey per_node{"per_node", time, "of each node", "0"};
inline constexpr PartKey by_nodes{"by_nodes", "object", "times by nodes, added to these", "none"};

inline std::vector<KeyRow> rows() { return rows_of(fixed, per_level, per_node, by_nodes); }

}  // namespace treeline::requests::drafting_keys

/// `verify` and `by_nodes`.
namespace treeline::requests::time_keys {

using namespace json;

inline constexpr std::array<std::string_view, 4> units = {"s", "ms", "us", "ns"};
inline constexpr std::array<std::string_view, 5> source_kinds = {"datasheet", "measured", "published", "assumed", "derived"};

inline constexpr ChoiceKey<calibrate::LawForm> law{
    "law", {}, "a stated law", {}, ": a0; a0 + a1 n; … + a2 n²; max(c, a0 + a1 n)"};
inline constexpr NumbersKey coefficients{"coefficients", -1e12, 1e12, "of the law, in its order"};
inline constexpr WordKey unit{"unit", units, {}, "of the coefficients"};
inline constexpr TextKey source{"source", "text", {}, "where the law comes from"};
inline constexpr WordKey kind{"kind", source_kinds, {}, "what kind of source that is"};
inline constexpr TextKey fit{"fit", "path", {}, "result of `treeline study fit --format json`"};
inline constexpr TextKey measured{"measured", "path", {}, "times as `treeline study fit` reads them, CSV or JSON"};
inline constexpr TextKey series{"series", "text", "", "of the file", "the only one"};
inline constexpr PartKey as{"as", "`auto`, `table`, a law",
                            "of `measured`: the law that cross-validation selects, interpolation, or this law", "`auto`"};

inline std::vector<KeyRow> rows() { return rows_of(law, coefficients, unit, source, kind, fit, measured, series, as); }

}  // namespace treeline::requests::time_keys
