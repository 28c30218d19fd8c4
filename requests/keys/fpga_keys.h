// Keys of a run of an accelerator, of an exploration of designs and of a paper's claims.
#pragma once

#include "requests/keys/shared_keys.h"
#include "sim/fpga/round.h"
#include "sim/fpga/tree_work.h"
#include "sim/trees/tree_shape.h"
#include "sweeps/fpga_search.h"

namespace treeline::requests::fpga_keys {

using namespace shared_keys;

inline constexpr TextKey design{"design", "name or path", {}, "the accelerator"};
inline constexpr TextKey board{"board", "name or path", {}, "the board that it is on", "the design's own"};
inline constexpr PartKey changes{"changes", "object", "overrides for numbers of the design or board", "none"};
inline constexpr PartKey model{"target", "name or path", "a Mamba-2 model"};
inline constexpr PartKey drafter{"drafter", "name or path", "Mamba-2 model that drafts", "none: plain decoding"};
inline constexpr PartKey shape{"shape", "text or object", "with a drafter: its tree"};
inline constexpr NumberKey accept_length{
    "accept_length", "tokens", 1.0, sim::most_tree_nodes + 1.0, {}, "mean tokens per round, bonus token included, or …"};
inline constexpr TextKey accept_source{"accept_source", "text", "", "where it comes from", "none"};
inline constexpr PartKey acceptance{"acceptance", "object", "… the acceptance it follows from"};
inline constexpr ChoiceKey<sim::fpga::Backtracking> plan{"plan", sim::fpga::Backtracking::hybrid, "backtracking"};
inline constexpr ChoiceKey<sim::fpga::TreeStates> tree_states{"tree_states", sim::fpga::TreeStates::fifo,
                                                              "where states of tree nodes wait"};
inline constexpr SwitchKey overlap{"overlap", true, "Linear and SSM unit overlap", "the design's"};

inline std::vector<KeyRow> rows() {
    return rows_of(title, source, design, board, changes, model, drafter, shape, accept_length, accept_source, acceptance, plan,
                   tree_states, overlap);
}

}  // namespace treeline::requests::fpga_keys

/// The keys of a run, of which the last five of the speculation are searched, and these.
namespace treeline::requests::fpga_explore_keys {

using namespace json;

inline constexpr int widest_axis_value = 1'000'000;

inline constexpr AxisKey tile_inputs{"tile_inputs", 1, widest_axis_value, "of the Linear unit", "the design's"};
inline constexpr AxisKey tile_outputs{"tile_outputs", 1, widest_axis_value, "of the Linear unit", "the design's"};
inline constexpr AxisKey lanes{"lanes", 1, widest_axis_value, "of the SSM unit", "the design's"};
inline constexpr AxisKey tokens{"tokens", 1, widest_axis_value, "tokens that a tile serves per cycle",
                                "as many as the tree verifies"};
inline constexpr PartKey drafters{"drafters", "list of objects", "models that draft, and plain decoding", "none"};
inline constexpr PartKey trees{"trees", "list of shapes", "what they draft", "none"};
inline constexpr PartKey plans{"plans", "list of plans", "backtracking", "`hybrid`"};
inline constexpr ChoiceKey<sweeps::FpgaObjective> objective{"objective", sweeps::FpgaObjective::throughput,
                                                            "what the best design is best in"};
inline constexpr NumberKey utilisation{"utilisation", "", 0.01, 1.0, 0.7, "share of each resource that may be used"};

inline std::vector<KeyRow> rows() {
    std::vector<KeyRow> all = fpga_keys::rows();
    const std::vector<KeyRow> more =
        rows_of(tile_inputs, tile_outputs, lanes, tokens, drafters, trees, plans, objective, utilisation);
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace treeline::requests::fpga_explore_keys

/// Elements of `drafters` of an exploration.
namespace treeline::requests::fpga_drafter_keys {

using namespace json;

inline constexpr PartKey model{"model", "name or path", "a Mamba-2 model"};
inline constexpr PartKey acceptance{"acceptance", "object", "how many of its drafts are accepted, or …"};
inline constexpr NumbersKey accept_lengths{"accept_lengths", 1.0, sim::most_tree_nodes + 1.0, "… one for each tree"};

inline std::vector<KeyRow> rows() { return rows_of(model, acceptance, accept_lengths); }

}  // namespace treeline::requests::fpga_drafter_keys

namespace treeline::requests::fpga_claim_keys {

using namespace shared_keys;

inline constexpr PartKey run{"run", "object", "a run of an accelerator"};
inline constexpr PartKey drafters{"drafters", "list, or one", "models whose cost is compared"};
inline constexpr PartKey states{"states", "list of objects", "formats of the state"};
inline constexpr PartKey designs{"designs", "list", "the same models on other designs"};
inline constexpr PartKey structures{"structures", "object", "published acceptance of draft structures"};

inline std::vector<KeyRow> rows() { return rows_of(title, run, drafters, states, designs, structures); }

}  // namespace treeline::requests::fpga_claim_keys

namespace treeline::requests::fpga_state_keys {

using namespace json;

inline constexpr TextKey label{"label", "text", {}, "its name in results"};
inline constexpr NumberKey bits{"bits", "", 1.0, 64.0, {}, "bits of an element"};
inline constexpr NumberKey scale_bits{"scale_bits", "", 0.0, 64.0, 0.0, "bits of a scale"};
inline constexpr NumberKey group{"group", "", 0.0, 1e6, 0.0, "elements that share it"};

inline std::vector<KeyRow> rows() { return rows_of(label, bits, scale_bits, group); }

}  // namespace treeline::requests::fpga_state_keys

namespace treeline::requests::fpga_structure_keys {

using namespace json;

inline constexpr TextKey source{"source", "text", {}, "where the acceptance comes from"};
inline constexpr SwitchKey bonus_token_counted{"bonus_token_counted", false, "whether `accepted` holds the bonus token"};
inline constexpr PartKey rows_key{"rows", "list of objects", "data sets and structures"};
inline constexpr TextKey data{"data", "text", {}, "data set"};
inline constexpr TextKey label{"label", "text", {}, "name of the structure"};
inline constexpr PartKey shape{"shape", "text or object", "its tree"};
inline constexpr NumberKey accepted{"accepted", "tokens", 0.0, sim::most_tree_nodes, {}, "mean per round"};

inline std::vector<KeyRow> rows() { return rows_of(source, bonus_token_counted, rows_key); }
inline std::vector<KeyRow> rows_of_row() { return rows_of(data, label, shape, accepted); }

}  // namespace treeline::requests::fpga_structure_keys
