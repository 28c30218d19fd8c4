// What one operation takes at given rates, by the rule that they ask for.
#pragma once

#include "sim/operation.h"
#include "sim/pass.h"
#include "sim/rates.h"

namespace treeline::testing {

/// A data sheet of 1 B/s and 1 FLOP/s, so that times are counts.
inline sim::Rates unit_rates() {
    sim::Rates rates;
    rates.per_byte = 1.0 / BytesPerSecond(1.0);
    rates.per_flop = 1.0 / FlopsPerSecond(1.0);
    return rates;
}

inline Seconds time_of(const sim::Operation& operation, const sim::Rates& rates, const sim::PassShape& shape) {
    const sim::ShapeTerms terms = sim::terms_of(shape);
    Seconds time;
    sim::dispatch(operation, operation.reads_context, rates.rule,
                  [&]<bool reads_context, bool has_experts, class Rule>(const Rule& rule) {
                      time = sim::operation_time<reads_context, has_experts>(
                          rule, operation, rates, terms, sim::bytes_of<reads_context, has_experts>(operation, terms),
                          sim::flops_of<reads_context>(operation, terms));
                  });
    return time;
}

}  // namespace treeline::testing
