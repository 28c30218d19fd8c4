#include "sim/rates.h"

#include <cmath>

namespace treeline {
namespace {

bool is_of_logits(const Operation& operation) { return operation.flops.per_logit > Flops(0.0); }

/// The same for each row, whichever kind of rows the operation has.
PerShape per_row(const Operation& operation, double each) {
    PerShape result;
    (is_of_logits(operation) ? result.per_logit : result.per_token) = each;
    return result;
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
    const bool has_step =
        law.step_rows > 0.0 && (law.step_inputs <= 0.0 || std::fmod(operation.inputs, law.step_inputs) == 0.0);
    steps.step = operation.bytes.fixed * data_sheet.per_byte * (has_step ? law.step_share : 0.0);
    return steps;
}

RowCosts row_costs(const KernelLaw& law, const Operation& operation) {
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
    costs.outputs = per_row(operation, operation.outputs);
    costs.per_output = law.per_output;
    const WorkItems& items = operation.items;
    const bool shared_out = law.workers > 1.0 && items.per_row + items.per_sequence > 0.0;
    costs.items = per_row(operation, items.per_row);
    costs.items.per_sequence = items.per_sequence;
    if (!shared_out) {
        costs.items = {1.0};
    }
    costs.inverse_workers = shared_out ? 1.0 / law.workers : 1.0;
    return costs;
}

bool has_row_costs(const KernelLaw& law) {
    const bool shares_items = law.workers > 1.0 && law.tile_columns <= 0.0;
    return law.first_row != 1.0 || law.knots[0].rows > 0.0 || law.per_output > Seconds(0.0) || shares_items;
}

bool has_row_steps(const KernelLaw& law) {
    return law.row_tile > 1.0 || law.step_rows > 0.0 || law.tile_columns > 0.0 || law.per_activation > Seconds(0.0);
}

}  // namespace

PerShape rows_of(const Operation& operation) {
    PerShape rows;
    switch (operation.kind) {
        case OperationKind::linear:
        case OperationKind::experts:
            return per_row(operation, 1.0);
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
    if (has_row_costs(law)) {
        rates.rule = RowRule::curve;
        rates.costs = row_costs(law, operation);
    }
    if (rates.rule == RowRule::curve && operation.reads_context) {
        rates.steps.step_after = law.step_rows;
        rates.steps.step = operation.bytes.per_context * data_sheet.per_byte * (law.step_rows > 0.0 ? law.step_share : 0.0);
    }
    if (operation.kind == OperationKind::linear && has_row_steps(law)) {
        rates.rule = rates.rule == RowRule::curve ? RowRule::curve : RowRule::steps;
        rates.steps = row_steps(law, data_sheet, operation);
    }
    return rates;
}

}  // namespace treeline
