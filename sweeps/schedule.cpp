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
        if (batch >= entry.batch_from && batch <= entry.batch_to) {
            return entry.speculation;
        }
    }
    return 0;
}

/// Gain and speed-up over the traffic when the schedule is followed.
void follow(const sim::CompiledRound& round, const Workload& workload, Schedule& schedule) {
    std::vector<sim::RoundEstimate> estimates;
    for (const TrafficPoint& point : workload.traffic.points) {
        estimates.push_back(sim::evaluate(round, {speculation_at(schedule, point.batch), point.batch, point.context}));
    }
    const TrafficMeans followed = means_over(workload.traffic, estimates);
    const TrafficMeans plain = means_over(workload.traffic, round, 0);
    schedule.gain = objective_of(plain, workload.objective) / objective_of(followed, workload.objective);
    schedule.speedup = plain.time_per_token / followed.time_per_token;
}

}  // namespace

Schedule schedule_for(const sim::CompiledRound& round, const std::vector<int>& speculations, const Workload& workload,
                      int largest_batch) {
    Schedule schedule;
    for (int batch = 1; batch <= largest_batch; ++batch) {
        const std::vector<Outcome> outcomes =
            outcomes_of(round, speculations, at_batch(workload.traffic, batch), workload.objective);
        const BestOutcome best = best_of(outcomes, round, workload.limits);
        if (best.within == nullptr) {
            schedule.end_limit = broken_limit(outcomes.front(), round, workload.limits);
            break;
        }
        append(schedule.entries, round, batch, *best.within);
        if (best.within->speculation != 0) {
            schedule.switch_off_batch.reset();
            schedule.switch_off_limit.reset();
        } else if (!schedule.switch_off_batch) {
            schedule.switch_off_batch = batch;
            schedule.switch_off_limit = best.in_the_way;
        }
        schedule.largest_batch = batch;
    }
    follow(round, workload, schedule);
    return schedule;
}

}  // namespace treeline::sweeps
