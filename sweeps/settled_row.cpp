#include "sweeps/settled_row.h"

#include <limits>

namespace treeline::sweeps {

LoadEstimate estimate_of_load(const sim::CompiledRound& round, int speculation, const Load& load, double context,
                              const SettledLoad& settled) {
    const auto at = [&](int choice, const SettledLoad& where) {
        return under_load(round, choice, load, where, sim::evaluate(round, {choice, where.batch, context}));
    };
    LoadEstimate result{at(speculation, settled), 1.0};
    sim::RoundEstimate& estimate = result.estimate;
    if (speculation != 0) {
        const sim::RoundEstimate plain = at(0, settle(round, 0, load, context));
        estimate.throughput_multiplier = plain.time_per_token / estimate.time_per_token;
        result.gain = estimate.tokens_per_second_device / plain.tokens_per_second_device;
    }
    if (!settled.problem.empty()) {
        estimate.memory = Bytes(std::numeric_limits<double>::quiet_NaN());
        estimate.fits = false;
    }
    return result;
}

void settle_row(const sim::CompiledRound& round, int speculation, LoadKind kind, const double* loads, const double* contexts,
                std::size_t size, SettledRow& settled, sim::EstimateColumns& estimates) {
    estimates.size = size;
    estimates.capacity = round.memory.capacity_of(round.row(speculation)).value();
    estimates.accept_length = round.row(speculation).accept_length();
    for (std::size_t i = 0; i < size; ++i) {
        const Load load{kind, loads[i]};
        const SettledLoad at = settle(round, speculation, load, contexts[i]);
        const auto [estimate, gain] = estimate_of_load(round, speculation, load, contexts[i], at);
        settled.batch.values[i] = at.batch;
        settled.queued.values[i] = at.queued;
        settled.gain.values[i] = gain;
        estimates.set_times(i, estimate);
        estimates.memory[i] = estimate.memory.value();
    }
}

}  // namespace treeline::sweeps
