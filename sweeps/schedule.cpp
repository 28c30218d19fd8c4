#include <cmath>
#include <utility>

#include "sweeps/recommend.h"

namespace treeline::sweeps {
namespace {

void append(std::vector<ScheduleEntry>& entries, const sim::CompiledRound& round, int batch, const Outcome& choice) {
    if (entries.empty() || entries.back().speculation != choice.speculation) {
        const sim::RoundRow& row = round.row(choice.speculation);
        entries.push_back({batch, batch, choice.speculation, static_cast<int>(row.draft_tokens), choice.speedup, choice.speedup,
                           row.accepted.basis});
    } else {
        entries.back().batch_to = batch;
        entries.back().speedup_to = choice.speedup;
    }
}

int speculation_at(const Schedule& schedule, double batch) {
    for (const ScheduleEntry& entry : schedule.entries) {
        if (batch >= entry.batch_from && batch < entry.batch_to + 1.0) {
            return entry.speculation;
        }
    }
    return 0;
}

/// The speculation that the schedule names for the batch at which it serves a load. Where two entries each lead to the batch
/// of the other one, the last of them that was looked at.
int speculation_under(const Schedule& schedule, const sim::CompiledRound& round, const Load& load, double context) {
    constexpr int most_steps = 8;
    int speculation = schedule.entries.empty() ? 0 : schedule.entries.front().speculation;
    for (int step = 0; step < most_steps; ++step) {
        const int next = speculation_at(schedule, settle(round, speculation, load, context).batch);
        if (next == speculation) {
            break;
        }
        speculation = next;
    }
    return speculation;
}

/// `speedups` by batch, from 1. Where rows come in groups (ranks with requests of their own), several batches cost alike: the
/// neighbours of a step are the changes before and after it, zeros left out.
std::vector<ScheduleStep> steps_of(const std::vector<double>& speedups) {
    constexpr double least = 0.03, beside_neighbours = 3.0, unchanged = 1e-4;
    std::vector<std::pair<std::size_t, double>> changes;  // index of the batch before, relative fall
    for (std::size_t i = 0; i + 1 < speedups.size(); ++i) {
        if (const double fall = 1.0 - speedups[i + 1] / speedups[i]; std::abs(fall) > unchanged) {
            changes.emplace_back(i, fall);
        }
    }
    std::vector<ScheduleStep> steps;
    for (std::size_t c = 1; c + 1 < changes.size(); ++c) {
        const double fall = changes[c].second;
        if (fall > least && fall > beside_neighbours * std::abs(changes[c - 1].second) &&
            fall > beside_neighbours * std::abs(changes[c + 1].second)) {
            const std::size_t i = changes[c].first;
            steps.push_back({static_cast<int>(i) + 1, speedups[i], speedups[i + 1]});
        }
    }
    return steps;
}

/// Gain and speed-up over the traffic when the schedule is followed.
void follow(const sim::CompiledRound& round, const Workload& workload, Schedule& schedule) {
    std::vector<SettledLoad> loads;
    std::vector<sim::RoundEstimate> estimates;
    for (const TrafficPoint& point : workload.traffic.points) {
        const Load load{workload.traffic.kind, point.load};
        const int speculation = speculation_under(schedule, round, load, point.context);
        loads.push_back(settle(round, speculation, load, point.context));
        estimates.push_back(under_load(round, speculation, load, loads.back(),
                                       sim::evaluate(round, {speculation, loads.back().batch, point.context})));
    }
    const TrafficMeans followed = means_over(workload.traffic, loads, estimates);
    const TrafficMeans plain = means_over(workload.traffic, round, 0);
    schedule.gain = objective_of(plain, workload.objective) / objective_of(followed, workload.objective);
    schedule.speedup = plain.time_per_token / followed.time_per_token;
}

}  // namespace

Schedule schedule_for(const sim::CompiledRound& round, const std::vector<int>& speculations, const Workload& workload,
                      int largest_batch) {
    Schedule schedule;
    std::vector<double> speedups;
    for (int batch = 1; batch <= largest_batch; ++batch) {
        const std::vector<Outcome> outcomes =
            outcomes_of(round, speculations, at_batch(workload.traffic, batch), workload.objective);
        const BestOutcome best = best_of(outcomes, round, workload.limits);
        if (best.within == nullptr) {
            schedule.end_limit = broken_limit(outcomes.front(), round, workload.limits);
            break;
        }
        append(schedule.entries, round, batch, *best.within);
        speedups.push_back(best.within->speedup);
        if (best.within->speculation != 0) {
            schedule.switch_off_batch.reset();
            schedule.switch_off_limit.reset();
        } else if (!schedule.switch_off_batch) {
            schedule.switch_off_batch = batch;
            schedule.switch_off_limit = best.in_the_way;
        }
        schedule.largest_batch = batch;
    }
    schedule.steps = steps_of(speedups);
    follow(round, workload, schedule);
    return schedule;
}

}  // namespace treeline::sweeps
