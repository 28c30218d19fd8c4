#include "sweeps/goal.h"

#include <algorithm>

namespace treeline::sweeps {

double objective_of(const TrafficMeans& means, Objective objective) {
    switch (objective) {
        case Objective::throughput:
            return 1.0 / means.tokens_per_second_device;
        case Objective::latency:
            return means.time_per_token.value();
        case Objective::cost:
            return means.price_per_token.value();
        case Objective::energy:
            return means.energy_per_token.value();
    }
    return 0.0;
}

std::vector<Outcome> outcomes_of(const sim::CompiledRound& round, const std::vector<int>& speculations, const Traffic& traffic,
                                 Objective objective) {
    const std::size_t points = traffic.points.size();
    const std::size_t count = (speculations.size() + 1) * points;  // plain decoding first, to compare with
    std::vector<int> choices(count, 0);
    std::vector<double> batches(count), contexts(count);
    for (std::size_t i = 0; i < count; ++i) {
        const TrafficPoint& point = traffic.points[i % points];
        choices[i] = i < points ? 0 : speculations[i / points - 1];
        batches[i] = point.batch;
        contexts[i] = point.context;
    }
    std::vector<sim::RoundEstimate> estimates(count);
    sim::evaluate(round, {choices, batches, contexts}, estimates);

    const std::span<const sim::RoundEstimate> all = estimates;
    const TrafficMeans plain = means_over(traffic, all.first(points));
    std::vector<Outcome> outcomes;
    outcomes.reserve(speculations.size());
    for (std::size_t i = 0; i < speculations.size(); ++i) {
        const TrafficMeans means = means_over(traffic, all.subspan((i + 1) * points, points));
        const double figure = objective_of(means, objective);
        outcomes.push_back({speculations[i], means, figure, objective_of(plain, objective) / figure,
                            plain.time_per_token / means.time_per_token});
    }
    return outcomes;
}

Bytes allowed_memory(const sim::CompiledRound& round, const Limits& limits) {
    return limits.memory ? std::min(*limits.memory, round.memory.capacity) : round.memory.capacity;
}

std::optional<Limit> broken_limit(const Outcome& outcome, const sim::CompiledRound& round, const Limits& limits) {
    if (outcome.means.peak_memory > allowed_memory(round, limits)) {
        return Limit::memory;
    }
    if (limits.time_per_token && outcome.means.worst_time_per_token > *limits.time_per_token) {
        return Limit::time_per_token;
    }
    if (outcome.speculation != 0 && outcome.gain < limits.minimum_gain) {
        return Limit::gain;
    }
    return std::nullopt;
}

BestOutcome best_of(const std::vector<Outcome>& outcomes, const sim::CompiledRound& round, const Limits& limits) {
    BestOutcome best;
    for (const Outcome& outcome : outcomes) {
        const std::optional<Limit> broken = broken_limit(outcome, round, limits);
        if (best.anyhow == nullptr || outcome.objective < best.anyhow->objective) {
            best.anyhow = &outcome;
            best.in_the_way = broken;
        }
        if (!broken && (best.within == nullptr || outcome.objective < best.within->objective)) {
            best.within = &outcome;
        }
    }
    return best;
}

std::vector<int> runnable(const sim::CompiledRound& round) {
    std::vector<int> speculations;
    for (int i = 0; i < static_cast<int>(round.rows.size()); ++i) {
        if (round.runs(i)) {
            speculations.push_back(i);
        }
    }
    return speculations;
}

bool better_at_a_point(const sim::RoundEstimate& a, const sim::RoundEstimate& b) {
    if (a.fits != b.fits) {
        return a.fits;
    }
    return a.fits ? a.time_per_token < b.time_per_token : a.memory < b.memory;
}

std::optional<FittingPoint> fastest_that_fits(const sim::CompiledRound& round, const std::vector<int>& speculations,
                                              double batch, double context) {
    std::optional<FittingPoint> best;
    for (const int speculation : speculations) {
        const sim::RoundEstimate estimate = sim::evaluate(round, {speculation, batch, context});
        if (estimate.fits && (!best || better_at_a_point(estimate, best->estimate))) {
            best = {speculation, estimate};
        }
    }
    return best;
}

}  // namespace treeline::sweeps
