// The time of an operation, given its bytes and FLOPs: the overlap law with its parameters prepared for that operation.
#pragma once

#include <array>
#include <type_traits>
#include <variant>

#include "sim/kernel_law.h"
#include "sim/operation.h"
#include "sim/rounding.h"

namespace treeline::sim {

/// Rows of an operation: tokens of the pass, or logits (LM head), or new tokens of one sequence.
struct RowCount {
    bool of_logits = false;  ///< `per_row` counts logits, not tokens
    double fixed = 0.0, per_row = 0.0, per_new_token = 0.0;

    /// Tokens, or logits.
    [[nodiscard]] double of_pass(const ShapeTerms& shape) const { return of_logits ? shape.logits : shape.tokens; }
    [[nodiscard]] double at(const ShapeTerms& shape) const {
        return fixed + per_row * of_pass(shape) + per_new_token * shape.new_tokens;
    }
};

/// Bytes and FLOPs alone count.
struct NoRows {};

/// What depends on the rows (tokens or logits) of a linear layer in steps.
struct RowSteps {
    bool are_logits = false;  ///< rows are logits (LM head), not tokens
    double tile = 1.0;        ///< FLOPs are counted in whole tiles
    double least_tile = 1.0;  ///< smallest tile, doubled until it holds all rows, but never above `tile`
    double inverse_least_tile = 1.0;
    Flops per_row;         ///< FLOPs of one row
    double padding = 1.0;  ///< what a row that merely pads a tile costs, in rows
    double wave = 0.0;     ///< tiles that all multiprocessors together compute at a time; 0 = any number
    double inverse_wave = 0.0;
    Seconds quantised;        ///< for each row
    double step_after = 0.0;  ///< above this many rows `step` is added to the startup
    Seconds step;
};

/// Query rows of an attention in whole tiles.
struct ContextTiles {
    double rows_per_new_token = 1.0;
    double tile = 1.0, inverse_tile = 1.0;
};

/// The cost of computing few rows as a piecewise linear curve, and what goes with it for simple kernels such as those on a CPU.
struct RowCosts {
    RowCount rows;                               ///< that share what is read
    double first = 1.0;                          ///< what the first row costs, in rows at full speed
    double slope = 1.0;                          ///< what each further row costs
    std::array<double, most_row_knots> knots{};  ///< rows at which the slope changes
    std::array<double, most_row_knots> bends{};  ///< by this much; 0 = unused
    double outputs_per_row = 0.0;                ///< elements that are written
    Seconds per_output;
    WorkItems items;  ///< that are divided among workers as a whole; one at least
    double inverse_workers = 1.0;
    /// Above this many rows `step` is added to the startup; of an attention, it is for each cached token beyond so many.
    double step_after = 0.0;
    Seconds step;
};

/// Startup and time of a byte of the ways to reduce: an engine's own in one shot and in two, which serve up to `limit` bytes,
/// and a library's for small messages and in bulk.
struct CollectiveLines {
    Seconds one_shot, two_shot, ring, bulk;
    SecondsPerByte one_shot_byte, two_shot_byte, ring_byte, bulk_byte;
    Bytes limit;
    bool own_up_to_limit = false;  ///< even where the library would be faster; else whichever is
};

/// Rows of a mixture's experts in whole tiles.
struct ExpertTiles {
    SecondsPerByte per_activation_byte;
    Flops per_row;
    double tile = 1.0;
};

/// A collective's startup beside the transfer, partly hidden by it.
struct Exchange {};

/// Steps of a chain of tokens beside the traffic of its states (RecurrentVerificationLaw).
struct TokenChain {
    Seconds per_new_token;      ///< a step, whatever the batch
    Seconds least_of_sequence;  ///< a sequence takes at least
};

/// Steps from chunk to chunk of a prompt beside the work of its heads (ChunkScanLaw).
struct ChunkChain {
    Seconds per_new_token;  ///< of a sequence's steps
    Seconds per_token;      ///< of the work of all heads, for each token of all sequences
    Bytes in_cache;         ///< of the traffic, so much is found in the cache
};

/// Tiles of a prompt's attention.
struct PromptTiles {
    double rows_per_token = 1.0;  ///< of one group of heads that fills tiles together
    double groups = 1.0;
    double tile = 1.0, inverse_tile = 1.0;  ///< rows
    double tokens = 1.0;                    ///< of a tile
    double columns = 1.0;                   ///< keys of a block: a tile reads whole ones
    double inverse_workers = 1.0;
    Seconds per_tile;
    Seconds per_column;  ///< of a tile, on one multiprocessor
    Bytes in_cache;      ///< of the traffic, so much is found in the cache
    double depth = 1.0;
};

/// How the rows of an operation enter its time beyond their bytes and FLOPs. Resolved once for each operation (dispatch()), not
/// for each point.
using RowRule = std::variant<NoRows, RowSteps, ContextTiles, RowCosts, CollectiveLines, ExpertTiles, PromptTiles, Exchange,
                             TokenChain, ChunkChain>;

/// The overlap law: with x = startup + bytes/bandwidth and y = startup + FLOPs/peak, time = max(x, y) + overlap·min(x, y).
struct Rates {
    Seconds startup;
    SecondsPerByte per_byte;
    SecondsPerFlop per_flop;
    double overlap = 0.0;  ///< r: 0 hides the shorter side completely, 1 not at all
    Seconds ramp;          ///< further startup that grows with the bytes, up to 1 / per_ramp of them; may be negative
    double per_ramp = 0.0;
    Seconds per_sequence;     ///< further startup of an operation that reads a context, per sequence
    Seconds per_context;      ///< such an operation takes at least startup + this for each cached token it sees
    Seconds walk_of_several;  ///< the same with two new tokens or more a sequence, if longer; below two, in proportion
    /// Thread blocks of a sequence's new tokens, a block for 1 / per_walk_rows of them, over those that run at once: beyond 1
    /// they wait.
    double walking_blocks = 0.0, per_walk_rows = 0.0;
    /// Beyond so many rows of experts on a rank, each byte of those that are touched takes so much longer (ExpertKernels).
    double few_expert_rows = 0.0;
    SecondsPerByte beyond_few_rows;
    RowRule rule;
};

/// The two sides of the law at a shape, with the startup kept apart.
struct OperationSides {
    Seconds startup, memory, compute;
};

inline Seconds time_by(const OperationSides& sides, double overlap) {
    const double memory = (sides.startup + sides.memory).value();
    const double compute = (sides.startup + sides.compute).value();
    const double longer = memory > compute ? memory : compute;  // on plain doubles this is one instruction, and vectorises
    const double shorter = memory > compute ? compute : memory;
    return Seconds(longer + overlap * shorter);
}

/// Computing time of `rows` rows over what they would take at full speed. Less than one row costs a proportional part of one.
inline double cost_of_rows(const RowCosts& costs, double rows) {
    const double at_least_one = rows > 1.0 ? rows : 1.0;
    double sum = costs.first + costs.slope * (at_least_one - 1.0);
    for (std::size_t i = 0; i < most_row_knots; ++i) {
        const double beyond = at_least_one - costs.knots[i];
        sum += costs.bends[i] * (beyond > 0.0 ? beyond : 0.0);
    }
    return sum / at_least_one;
}

/// What is divided among workers.
inline double items_of(const RowCosts& costs, const ShapeTerms& shape) {
    return costs.items.per_row * costs.rows.of_pass(shape) + costs.items.per_sequence * shape.sequences;
}

/// Time over that of an even division of the work: the busiest worker has a whole number of items.
inline double unevenness(const RowCosts& costs, const ShapeTerms& shape) {
    const double items = items_of(costs, shape);
    const double share = (items > 1.0 ? items : 1.0) * costs.inverse_workers;
    return rounded_up(share) / share;
}

/// FLOPs of rows, with the padding of their tiles and of the last wave of tiles.
inline Flops flops_of_tiles(const RowSteps& steps, double rows, Flops flops) {
    double tile = steps.least_tile, inverse = steps.inverse_least_tile;
    for (int i = 0; i < most_tile_doublings; ++i) {
        const bool larger = tile < rows && tile < steps.tile;
        tile = larger ? 2.0 * tile : tile;
        inverse = larger ? 0.5 * inverse : inverse;
    }
    const double tiles = rounded_up(rows * inverse);
    flops += steps.per_row * (steps.padding * (tiles * tile - rows));
    const Flops of_waves = steps.per_row * (rounded_up(tiles * steps.inverse_wave) * steps.wave * tile);
    return of_waves > flops ? of_waves : flops;
}

/// What a library's collective takes.
inline Seconds time_of_library(const CollectiveLines& lines, Bytes bytes) {
    const Seconds ring = lines.ring + bytes * lines.ring_byte, bulk = lines.bulk + bytes * lines.bulk_byte;
    return bulk < ring ? bulk : ring;
}

/// The least of the lines that serve so many bytes; it falls at the limit where an engine's own are slower by then and run all
/// the same.
inline Seconds time_of_lines(const CollectiveLines& lines, Bytes bytes) {
    const Seconds one = lines.one_shot + bytes * lines.one_shot_byte;
    const Seconds two = lines.two_shot + bytes * lines.two_shot_byte;
    const Seconds library = time_of_library(lines, bytes);
    const Seconds own = two < one ? two : one;
    return bytes <= lines.limit && (lines.own_up_to_limit || own < library) ? own : library;
}

/// What kernels that are made for few rows lose beyond them.
inline Seconds slower_reading(const OperationCost& cost, const Rates& rates, const ShapeTerms& shape, double touched) {
    const bool beyond = cost.expert_rows * shape.tokens > rates.few_expert_rows;
    return cost.bytes.per_expert * touched * (beyond ? rates.beyond_few_rows : SecondsPerByte(0.0));
}

/// An expert that is touched computes at least one tile; beyond, half a tile of each is empty in the mean.
inline OperationSides sides_of(const ExpertTiles& tiles, const OperationCost& cost, const Rates& rates, const ShapeTerms& shape,
                               Bytes bytes) {
    const double touched = expected_experts(cost, shape), rows = cost.expert_rows * shape.tokens;
    const Bytes weights = cost.bytes.per_expert * touched;
    const double more = rows - cost.expert_count * (0.5 * (tiles.tile + 1.0));
    OperationSides sides;
    const double ramped = weights.value() * rates.per_ramp;
    sides.startup = rates.startup + (bytes - weights) * tiles.per_activation_byte;
    sides.startup += rates.ramp * (ramped < 1.0 ? ramped : 1.0);
    sides.memory = weights * rates.per_byte + slower_reading(cost, rates, shape, touched);
    sides.compute = tiles.per_row * (tiles.tile * touched + (more > 0.0 ? more : 0.0)) * rates.per_flop;
    return sides;
}

/// Memory stands for the tiles of all, compute for the longest one; bytes are added to the startup.
inline OperationSides sides_of(const PromptTiles& tiles, const OperationCost& cost, const Rates& rates, const ShapeTerms& shape,
                               Bytes bytes) {
    const double tokens = shape.new_tokens > 1.0 ? shape.new_tokens : 1.0;
    const double cached = visible_context(cost.reach, shape.context);
    const double room = cost.reach.window + cost.reach.sink - cached;
    const double saturated = tokens > room ? (tokens - room) / tokens : 0.0;  // share of rows with a full window
    const double visible = visible_sum(cost.reach, shape.context, tokens) / tokens;
    const double in_tile = tokens < tiles.tokens ? tokens : tiles.tokens;
    // A tile reads what any of its rows sees, in whole blocks: ragged at the end, within a window at both ends.
    const double columns = visible + 0.5 * (in_tile + tiles.columns - 2.0) * (1.0 + saturated);
    const double last = tokens > room ? cached + room + in_tile + tiles.columns : cached + tokens + 0.5 * tiles.columns;
    const double count = shape.sequences * tiles.groups * rounded_up(tokens * tiles.rows_per_token * tiles.inverse_tile);
    OperationSides sides;
    const Bytes beyond = bytes - tiles.in_cache;
    sides.startup = rates.startup + rates.per_sequence * shape.tokens;
    sides.startup += (beyond > Bytes(0.0) ? beyond : Bytes(0.0)) * rates.per_byte;
    sides.memory = (tiles.per_tile + tiles.per_column * columns) * (count * tiles.inverse_workers);
    sides.compute = tiles.per_tile + tiles.per_column * (tiles.depth * last);
    return sides;
}

/// Whether a type is that of a rule.
template <class Rule, class Of>
inline constexpr bool is = std::is_same_v<Rule, Of>;

template <bool reads_context, bool has_experts, class Rule>
inline OperationSides sides_of(const Rule& rule, const OperationCost& cost, const Rates& rates, const ShapeTerms& shape,
                               Bytes bytes, Flops flops) {
    if constexpr (is<Rule, ExpertTiles> || is<Rule, PromptTiles>) {
        return sides_of(rule, cost, rates, shape, bytes);
    }
    if constexpr (is<Rule, CollectiveLines>) {
        return {time_of_lines(rule, bytes), {}, {}};
    }
    if constexpr (is<Rule, Exchange>) {
        return {{}, bytes * rates.per_byte, rates.startup};
    }
    if constexpr (is<Rule, TokenChain>) {
        return {rates.startup, bytes * rates.per_byte, rule.per_new_token * shape.new_tokens};
    }
    if constexpr (is<Rule, ChunkChain>) {
        const Bytes beyond = bytes > rule.in_cache ? bytes - rule.in_cache : Bytes(0.0);
        return {rates.startup, rule.per_token * shape.tokens + beyond * rates.per_byte, rule.per_new_token * shape.new_tokens};
    }
    OperationSides sides;
    const double ramped = bytes.value() * rates.per_ramp;
    sides.startup = rates.startup;
    if constexpr (reads_context) {
        sides.startup += rates.per_sequence * shape.sequences;
    }
    if constexpr (is<Rule, ContextTiles>) {
        const double rows = rule.rows_per_new_token * shape.new_tokens;
        flops *= rounded_up(rows * rule.inverse_tile) * rule.tile / rows;
    } else if constexpr (is<Rule, RowSteps>) {
        const double rows = rule.are_logits ? shape.logits : shape.tokens;
        sides.startup += rows > rule.step_after ? rule.step : Seconds(0.0);
        sides.startup += rule.quantised * rows;
        flops = flops_of_tiles(rule, rows, flops);
    }
    sides.startup += rates.ramp * (ramped < 1.0 ? ramped : 1.0);
    sides.memory = bytes * rates.per_byte;
    sides.compute = flops * rates.per_flop;
    if constexpr (is<Rule, RowCosts>) {
        double rows = rule.rows.at(shape);
        if constexpr (has_experts) {
            // Of one expert that is touched at all.
            rows *= expected_experts(cost, 1.0) / expected_experts(cost, std::max(independent_tokens(cost, shape), 1.0));
        }
        if constexpr (reads_context) {
            const double beyond = visible_context(cost.reach, shape.context) - rule.step_after;
            sides.startup += rule.step * (beyond > 0.0 ? beyond * shape.sequences : 0.0);
        } else {
            sides.startup += rows > rule.step_after ? rule.step : Seconds(0.0);
        }
        const double uneven = unevenness(rule, shape);
        sides.startup += rule.per_output * (rule.outputs_per_row * rule.rows.of_pass(shape) * uneven);
        sides.memory *= uneven;
        sides.compute *= uneven * cost_of_rows(rule, rows);
    }
    if constexpr (has_experts) {
        sides.memory += slower_reading(cost, rates, shape, expected_experts(cost, shape));
    }
    return sides;
}

/// Time of one run of an operation at a shape, given its bytes and FLOPs there; `rule` is what `rates.rule` holds.
template <bool reads_context, bool has_experts, class Rule>
inline Seconds operation_time(const Rule& rule, const OperationCost& cost, const Rates& rates, const ShapeTerms& shape,
                              Bytes bytes, Flops flops) {
    const OperationSides sides = sides_of<reads_context, has_experts>(rule, cost, rates, shape, bytes, flops);
    if constexpr (is<Rule, CollectiveLines>) {
        return sides.startup;
    }
    if constexpr (is<Rule, ExpertTiles> || is<Rule, PromptTiles> || is<Rule, ChunkChain>) {
        return sides.startup + time_by({{}, sides.memory, sides.compute}, rates.overlap);
    }
    if constexpr (is<Rule, TokenChain>) {
        const Seconds time = sides.startup + time_by({{}, sides.memory, sides.compute}, rates.overlap);
        const Seconds least = rule.least_of_sequence * shape.sequences;
        return time > least ? time : least;
    }
    const Seconds time = time_by(sides, rates.overlap);
    if constexpr (reads_context) {
        const double more = shape.new_tokens - 1.0, several = more < 1.0 ? more : 1.0;
        const double blocks = rates.walking_blocks * shape.sequences * rounded_up(shape.new_tokens * rates.per_walk_rows);
        const Seconds longer = rates.walk_of_several * (blocks > 1.0 ? blocks : 1.0) - rates.per_context;
        const Seconds step = rates.per_context + (longer > Seconds(0.0) ? longer : Seconds(0.0)) * several;
        const Seconds walk =
            rates.startup + rates.per_sequence * shape.sequences + step * visible_context(cost.reach, shape.context);
        return time > walk ? time : walk;
    }
    return time;
}

/// Rules of operations that read a context, of experts, and of all others, where more than bytes and FLOPs counts.
template <bool reads_context, bool has_experts, class Rule>
inline constexpr bool is_rule_of = is<Rule, RowCosts> ||
                                   (reads_context ? is<Rule, ContextTiles> || is<Rule, PromptTiles>
                                    : has_experts ? is<Rule, ExpertTiles>
                                                  : is<Rule, RowSteps> || is<Rule, CollectiveLines> || is<Rule, Exchange> ||
                                                        is<Rule, TokenChain> || is<Rule, ChunkChain>);

/// Calls visit<reads_context, has_experts>(rule) where the rule is one of such operations, else with NoRows.
template <bool reads_context, bool has_experts, class Visit>
inline void dispatch_rule(const RowRule& rule, Visit& visit) {
    const bool found = std::visit(
        [&]<class Rule>(const Rule& held) {
            if constexpr (is_rule_of<reads_context, has_experts, Rule>) {
                visit.template operator()<reads_context, has_experts>(held);
                return true;
            }
            return false;
        },
        rule);
    if (!found) {
        visit.template operator()<reads_context, has_experts>(NoRows{});
    }
}

/// Calls visit<reads_context, has_experts>(rule) with the rule of this operation.
template <class Visit>
inline void dispatch(const OperationCost& cost, bool reads_context, const RowRule& rule, Visit visit) {
    reads_context             ? dispatch_rule<true, false>(rule, visit)
    : cost.expert_count > 0.0 ? dispatch_rule<false, true>(rule, visit)
                              : dispatch_rule<false, false>(rule, visit);
}

/// The rows of an operation that share what it reads: those of all sequences share weights, those of one its cache or state.
RowCount rows_of(const Operation& operation);

/// A kernel's law, prepared for an operation that it runs; `data_sheet` holds the peaks to which its shares refer.
Rates measured_rates(const KernelLaw& law, const Rates& data_sheet, const Operation& operation);

}  // namespace treeline::sim
