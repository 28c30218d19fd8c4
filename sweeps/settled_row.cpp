#include "sweeps/settled_row.h"

#include <limits>

namespace treeline::sweeps {

sim::RoundEstimate estimate_of_load(const sim::CompiledRound& round, int speculation, const Load& load, double context,
                                    const SettledLoad& settled) {
    sim::RoundEstimate estimate =
        under_load(round, speculation, load, settled, sim::evaluate(round, {speculation, settled.batch, context}));
    if (!settled.problem.empty()) {
        estimate.memory = Bytes(std::numeric_limits<double>::quiet_NaN());
        estimate.fits = false;
    }
    return estimate;
}

void settle_row(const sim::CompiledRound& round, int speculation, LoadKind kind, const double* loads, const double* contexts,
                std::size_t size, SettledRow& settled, sim::EstimateColumns& estimates) {
    estimates.size = size;
    estimates.capacity = round.memory.capacity.value();
    estimates.accept_length = round.row(speculation).accept_length();
    for (std::size_t i = 0; i < size; ++i) {
        const Load load{kind, loads[i]};
        const SettledLoad at = settle(round, speculation, load, contexts[i]);
        const sim::RoundEstimate estimate = estimate_of_load(round, speculation, load, contexts[i], at);
        settled.batch.values[i] = at.batch;
        settled.queued.values[i] = at.queued;
        estimates.set_times(i, estimate);
        estimates.memory[i] = estimate.memory.value();
    }
}

}  // namespace treeline::sweeps
