// Runs that the cost model itself made, with a known fault put in, for diagnoses of them.
#pragma once

#include <vector>

#include "setups.h"
#include "sweeps/diagnosis.h"

namespace treeline::testing {

/// Loads of a deployment: the model's own rounds, with `fault` seconds more.
template <class Fault>
sweeps::DiagnosisInput faulty(const sim::RoundSetup& setup, const std::vector<double>& batches, const std::vector<int>& lengths,
                              Fault fault) {
    const sim::CompiledRound round = sim::compile_round(setup);
    sweeps::DiagnosisInput input;
    for (const double batch : batches) {
        for (const int length : lengths) {
            sweeps::DiagnosedPoint point{{}, setup, {length, batch, 1000.0}};
            point.cell.batch = batch;
            point.cell.draft_tokens = length;
            const sim::RoundEstimate estimate = sim::evaluate(round, point.point);
            point.cell.stated_length = length > 0 ? estimate.accept_length : 0.0;
            point.cell.round.add(estimate.round.value() + (length > 0 ? fault(batch, length) : 0.0));
            (length > 0 ? input.rounds : input.plain).push_back(point);
        }
    }
    return input;
}

}  // namespace treeline::testing
