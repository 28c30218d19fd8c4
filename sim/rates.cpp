#include "sim/rates.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace treeline::sim {
namespace {

bool is_of_logits(const Operation& operation) { return operation.flops.per_logit > Flops(0.0); }

/// Of the weights of a linear layer, or of a cached token.
Seconds step_of(const KernelLaw& law, const Rates& data_sheet, const Operation& operation) {
    const bool collide = law.step_inputs <= 0.0 || std::fmod(operation.inputs, law.step_inputs) == 0.0;
    const bool has_step =
        law.step_rows > 0.0 && (operation.reads_context || (operation.kind == OperationKind::linear && collide));
    const Bytes read = operation.reads_context ? operation.bytes.per_context : operation.bytes.fixed;
    return read * data_sheet.per_byte * (has_step ? law.step_share : 0.0);
}

RowSteps row_steps(const KernelLaw& law, const Rates& data_sheet, const Operation& operation) {
    RowSteps steps;
    steps.are_logits = is_of_logits(operation);
    steps.tile = law.row_tile;
    steps.least_tile = law.least_tile > 0.0 ? law.least_tile : law.row_tile;
    steps.inverse_least_tile = 1.0 / steps.least_tile;
    steps.per_row = operation.flops.per_token + operation.flops.per_logit;
    steps.padding = law.padding;
    if (law.tile_columns > 0.0 && operation.outputs > 0.0) {
        // The last tile of outputs is computed as a whole, too.
        steps.wave = law.workers * law.tile_columns / operation.outputs;
        steps.inverse_wave = std::ceil(operation.outputs / law.tile_columns) / law.workers;
    }
    steps.quantised = law.per_activation * operation.inputs;
    steps.step_after = law.step_rows;
    steps.step = step_of(law, data_sheet, operation);
    return steps;
}

RowCosts row_costs(const KernelLaw& law, const Rates& data_sheet, const Operation& operation) {
    RowCosts costs;
    costs.rows = rows_of(operation);
    costs.first = law.first_row;
    costs.slope = law.knots[0].rows > 0.0 ? law.knots[0].slope : 1.0;
    double slope = costs.slope;
    for (std::size_t i = 0; i < most_row_knots && law.knots[i].rows > 0.0; ++i) {
        const bool last = i + 1 == most_row_knots || law.knots[i + 1].rows <= 0.0;
        const double next = last ? 1.0 : law.knots[i + 1].slope;
        costs.knots[i] = law.knots[i].rows;
        costs.bends[i] = next - slope;
        slope = next;
    }
    costs.outputs_per_row = operation.outputs;
    costs.per_output = law.per_output;
    const WorkItems& items = operation.items;
    const bool shared_out = law.workers > 1.0 && items.per_row + items.per_sequence > 0.0;
    costs.items = shared_out ? items : WorkItems{};
    costs.inverse_workers = shared_out ? 1.0 / law.workers : 1.0;
    costs.step_after = law.step_rows;
    costs.step = step_of(law, data_sheet, operation);
    return costs;
}

bool has_row_costs(const KernelLaw& law) {
    const bool shares_items = law.workers > 1.0 && law.tile_columns <= 0.0;
    return law.first_row != 1.0 || law.knots[0].rows > 0.0 || law.per_output > Seconds(0.0) || shares_items;
}

bool has_row_steps(const KernelLaw& law) {
    return law.row_tile > 1.0 || law.step_rows > 0.0 || law.tile_columns > 0.0 || law.per_activation > Seconds(0.0);
}

/// Between 2, 4 and 8 ranks linear, beyond as at 8.
double ring_scale(const CollectiveLaw& law, double ranks) {
    if (ranks <= 4.0) {
        return 1.0 + (law.ring_scale_4 - 1.0) * (std::max(ranks, 2.0) - 2.0) / 2.0;
    }
    return law.ring_scale_4 + (law.ring_scale_8 - law.ring_scale_4) * (std::min(ranks, 8.0) - 4.0) / 4.0;
}

/// The bytes of an operation are those of a ring, V·S; those of one shot are more.
CollectiveLines collective_lines(const KernelLaw& law, const Rates& data_sheet, const Operation& operation) {
    const CollectiveLaw& of = law.collective;
    const double others = operation.ranks - 1.0, ring = 2.0 * others / operation.ranks;
    const double copies = of.by_ring > 0.0 ? 1.0 : others / ring;
    CollectiveLines lines;
    lines.one_shot = law.startup + of.per_rank * others;
    lines.two_shot = lines.one_shot + of.two_shot + of.two_shot_per_rank * others;
    lines.ring = of.ring + of.ring_per_rank * others;
    lines.bulk = Seconds(std::numeric_limits<double>::infinity());  // one line serves all sizes
    lines.one_shot_byte = data_sheet.per_byte * (copies / of.one_shot_share);
    lines.two_shot_byte = data_sheet.per_byte / of.two_shot_share;
    lines.ring_byte = data_sheet.per_byte / (of.ring_share * ring_scale(of, operation.ranks));
    const bool limited = of.limit > Bytes(0.0);
    lines.limit = limited ? of.limit * ring : Bytes(std::numeric_limits<double>::infinity());
    return lines;
}

ExpertTiles expert_tiles(const KernelLaw& law, const Rates& data_sheet, const Operation& operation) {
    ExpertTiles tiles;
    tiles.per_activation_byte = data_sheet.per_byte / law.activation_share;
    tiles.per_row = operation.flops.per_token / operation.expert_rows;
    tiles.tile = law.row_tile;
    return tiles;
}

/// Time of a byte that a rank sends, what tokens cost beside their bytes included.
SecondsPerByte exchange_byte(const KernelLaw& law, const Rates& data_sheet, const Operation& operation) {
    const SecondsPerByte link = data_sheet.per_byte / law.bandwidth_share;
    const bool limited = law.exchange.expert_rate > BytesPerSecond(0.0);
    const SecondsPerByte copies =
        limited ? 1.0 / (law.exchange.expert_rate * operation.exchanged_experts) : SecondsPerByte(0.0);
    return std::max(link, copies) + law.exchange.per_token / operation.bytes.per_token;
}

PromptTiles prompt_tiles(const KernelLaw& law, const Rates& data_sheet, const Operation& operation) {
    const bool packs = law.prompt.packs_heads > 0.0;
    const double heads = operation.cache_heads * operation.rows_per_token;
    PromptTiles tiles;
    tiles.rows_per_token = packs ? operation.rows_per_token : 1.0;
    tiles.groups = heads / tiles.rows_per_token;
    tiles.tile = law.row_tile;
    tiles.inverse_tile = 1.0 / law.row_tile;
    tiles.tokens = law.row_tile / tiles.rows_per_token;
    tiles.columns = std::max(1.0, law.tile_columns);
    tiles.inverse_workers = 1.0 / law.workers;
    tiles.per_tile = law.prompt.per_tile;
    tiles.per_column = operation.flops.per_visible / heads * law.row_tile * data_sheet.per_flop / law.peak_share * law.workers;
    tiles.in_cache = law.ramp_bytes;
    tiles.depth = law.prompt.depth;
    return tiles;
}

}  // namespace

RowCount rows_of(const Operation& operation) {
    RowCount rows{is_of_logits(operation)};
    switch (operation.kind) {
        case OperationKind::linear:
        case OperationKind::experts:
            rows.per_row = 1.0;
            return rows;
        case OperationKind::attention:
        case OperationKind::scan:
        case OperationKind::convolution:
            rows.per_new_token = operation.rows_per_token;
            return rows;
        case OperationKind::element_wise:
        case OperationKind::logits:
        case OperationKind::collective:
            break;
    }
    rows.fixed = 1.0;
    return rows;
}

Rates measured_rates(const KernelLaw& law, const Rates& data_sheet, const Operation& operation) {
    Rates rates;
    const bool ramps = law.ramp_bytes > Bytes(0.0);
    rates.startup = (ramps ? law.launch : law.startup) + law.per_input * operation.inputs;
    rates.ramp = ramps ? law.startup - law.launch : Seconds(0.0);
    rates.per_ramp = ramps ? 1.0 / law.ramp_bytes.value() : 0.0;
    const double wide_heads = operation.head_dim > widest_common_head ? law.wide_head_share : 1.0;
    rates.per_byte = data_sheet.per_byte / (law.bandwidth_share * wide_heads);
    const double scores = operation.head_dim > 0.0 ? 1.0 + law.score_elements / operation.head_dim : 1.0;
    rates.per_flop = data_sheet.per_flop / law.peak_share * scores;
    rates.overlap = law.overlap;
    rates.per_sequence = law.per_head * operation.cache_heads;
    rates.per_context = law.per_context;
    if (operation.kind == OperationKind::collective && operation.exchanged_experts > 0.0) {
        rates.rule = Exchange{};
        rates.startup = law.startup + law.per_input * operation.inputs + law.exchange.per_expert * operation.exchanged_experts;
        rates.per_byte = exchange_byte(law, data_sheet, operation);
    } else if (operation.kind == OperationKind::collective) {
        rates.rule = collective_lines(law, data_sheet, operation);
    } else if (operation.kind == OperationKind::experts && law.activation_share > 0.0) {
        rates.rule = expert_tiles(law, data_sheet, operation);
    } else if (operation.reads_context && law.prompt.per_tile > Seconds(0.0)) {
        rates.startup = law.startup;
        rates.rule = prompt_tiles(law, data_sheet, operation);
    } else if (has_row_costs(law)) {
        rates.rule = row_costs(law, data_sheet, operation);
    } else if (operation.reads_context && law.row_tile > 1.0) {
        rates.rule = ContextTiles{operation.rows_per_token, law.row_tile, 1.0 / law.row_tile};
    } else if (operation.kind == OperationKind::linear && has_row_steps(law)) {
        rates.rule = row_steps(law, data_sheet, operation);
    }
    return rates;
}

}  // namespace treeline::sim
