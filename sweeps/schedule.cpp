#include <algorithm>
#include <cmath>
#include <utility>

#include "sweeps/recommend.h"

namespace treeline::sweeps {
namespace {

/// What is drafted at one batch may cost, and what it gains there.
struct BatchChoices {
    std::vector<Outcome> outcomes;  ///< those within the limits
    double best = 0.0;              ///< the least objective among them
};

/// Drafting is not switched off where it gains, however little.
const Outcome* within_tolerance(const BatchChoices& choices, int speculation) {
    const double tolerance = speculation == sim::drafting_off ? 0.0 : schedule_tolerance;
    for (const Outcome& outcome : choices.outcomes) {
        if (outcome.speculation == speculation && outcome.objective <= choices.best * (1.0 + tolerance)) {
            return &outcome;
        }
    }
    return nullptr;
}

/// From `first` on: how many batches in a row one speculation serves within the tolerance, and the sum of what it costs there,
/// each as a multiple of the best.
struct Stretch {
    std::size_t length = 0;
    double cost = 0.0;
};

Stretch stretch_of(const std::vector<BatchChoices>& batches, std::size_t first, int speculation) {
    Stretch stretch;
    for (std::size_t i = first; i < batches.size(); ++i) {
        const Outcome* outcome = within_tolerance(batches[i], speculation);
        if (outcome == nullptr) {
            break;
        }
        stretch.cost += outcome->objective / batches[i].best;
        ++stretch.length;
    }
    return stretch;
}

/// The fewest ranges: each time the speculation that stays within the tolerance longest; of equals the preferred one, or else
/// the better one.
std::vector<ScheduleEntry> ranges_of(const sim::CompiledRound& round, const std::vector<BatchChoices>& batches, int preferred) {
    std::vector<ScheduleEntry> entries;
    for (std::size_t first = 0; first < batches.size();) {
        int chosen = batches[first].outcomes.front().speculation;
        Stretch longest;
        for (const Outcome& outcome : batches[first].outcomes) {
            const Stretch stretch = stretch_of(batches, first, outcome.speculation);
            const bool better = outcome.speculation == preferred || (chosen != preferred && stretch.cost < longest.cost);
            if (stretch.length > longest.length || (stretch.length == longest.length && better)) {
                longest = stretch;
                chosen = outcome.speculation;
            }
        }
        const sim::RoundRow& row = round.row(chosen);
        ScheduleEntry entry{static_cast<int>(first) + 1,
                            static_cast<int>(first + longest.length),
                            std::max(chosen, 0),
                            static_cast<int>(row.draft_tokens),
                            sim::unlimited,
                            0.0,
                            row.accepted.basis};
        for (std::size_t i = first; i < first + longest.length; ++i) {
            const double speedup = within_tolerance(batches[i], chosen)->speedup;
            entry.least = std::min(entry.least, speedup);
            entry.greatest = std::max(entry.greatest, speedup);
        }
        entries.push_back(entry);
        first += longest.length;
    }
    return entries;
}

/// Beyond its last range engines go on as in it.
int speculation_at(const Schedule& schedule, double batch) {
    for (const ScheduleEntry& entry : schedule.entries) {
        if (batch < entry.batch_to + 1.0 || &entry == &schedule.entries.back()) {
            return entry.speculation == 0 ? sim::drafting_off : entry.speculation;
        }
    }
    return sim::drafting_off;
}

/// The speculation that the schedule names for the batch at which it serves a load. Where two entries each lead to the batch
/// of the other one, the last of them that was looked at.
int speculation_under(const Schedule& schedule, const sim::CompiledRound& round, LoadKind kind, const TrafficPoint& point) {
    constexpr int most_steps = 8;
    int speculation = speculation_at(schedule, 1.0);
    for (int step = 0; step < most_steps; ++step) {
        const SettledLoad settled = settle(round, speculation, kind, point);
        const int next = speculation_at(schedule, kind == LoadKind::batch ? point.load : settled.batch);
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

/// As far as the ranges go, drafts stop where they say so, not where the best choice would: a range may keep drafting within
/// the tolerance. Beyond them, where the best choice does.
void stop_as_the_ranges_do(Schedule& schedule) {
    int drafts_until = 0;
    for (const ScheduleEntry& entry : schedule.entries) {
        drafts_until = entry.speculation == 0 ? drafts_until : entry.batch_to;
    }
    const int asked = schedule.entries.empty() ? 0 : schedule.entries.back().batch_to;
    if (drafts_until < asked && (!schedule.switch_off_batch || *schedule.switch_off_batch <= asked)) {
        schedule.switch_off_batch = drafts_until + 1;
    } else if (schedule.switch_off_batch && *schedule.switch_off_batch <= asked) {
        schedule.switch_off_batch = asked + 1;
    }
    if (schedule.switch_off_batch && *schedule.switch_off_batch > schedule.largest_batch) {
        schedule.switch_off_batch.reset();
        schedule.switch_off_limit.reset();
    }
}

/// Gain and speed-up over the traffic when the schedule is followed, and the limit that this breaks.
void follow(const sim::CompiledRound& round, const Workload& workload, Schedule& schedule) {
    DraftPlan plan = sim::drafting_off;
    for (const TrafficPoint& point : workload.traffic.points) {
        plan.by_point.push_back(speculation_under(schedule, round, workload.traffic.kind, point));
    }
    const Outcome followed = outcomes_of(round, {&plan, 1}, workload.traffic, workload.objective).front();
    schedule.gain = followed.gain;
    schedule.speedup = followed.speedup;
    schedule.broken = broken_limit(followed, round, workload.limits);
    const std::optional<Seconds>& first_token = workload.limits.time_to_first_token;
    const bool late = workload.traffic.kind != LoadKind::batch && first_token && followed.means.first_token > *first_token;
    if (late && (!schedule.broken || *schedule.broken == Limit::gain)) {
        schedule.broken = Limit::time_to_first_token;
    }
}

/// The limits at batches by themselves, which have no queue, so that no TTFT grows.
Limits of_batches(const Limits& limits) {
    Limits alone = limits;
    alone.own_plain = {};
    return alone;
}

/// The outcomes at one batch that keep the limits; and the limit in the way of the best that drafts.
BatchChoices choices_at(const sim::CompiledRound& round, const std::vector<int>& speculations, const Workload& workload,
                        const LoadChoices* loads, int batch, BestOutcome& best, std::vector<Outcome>& outcomes) {
    outcomes = outcomes_of(round, speculations, at_batch(workload.traffic, batch), workload.objective);
    std::erase_if(outcomes, [](const Outcome& outcome) { return outcome.means.queued > 0.0; });
    std::optional<Limit> of_load;
    if (loads != nullptr) {
        const Outcome* anyhow = best_of(outcomes, round, workload.limits).anyhow;
        of_load = anyhow == nullptr ? std::nullopt : loads->broken(anyhow->speculation, batch);
        std::erase_if(outcomes, [&](const Outcome& outcome) { return loads->broken(outcome.speculation, batch).has_value(); });
    }
    // A loaded drafter costs time where nothing is drafted, too: drafts that lose less are the better choice, unless the user
    // asks for a gain.
    Limits limits = of_batches(workload.limits);
    limits.minimum_gain = limits.minimum_gain > 1.0 ? limits.minimum_gain : 0.0;
    BatchChoices choices;
    best = best_of(outcomes, round, limits);
    best.in_the_way = of_load ? of_load : best.in_the_way;
    for (const Outcome& outcome : outcomes) {
        if (!broken_limit(outcome, round, limits)) {
            choices.outcomes.push_back(outcome);
        }
    }
    choices.best = best.within == nullptr ? 0.0 : best.within->objective;
    return choices;
}

/// Of the best outcome that drafts and breaks no limit but that on the gain; 0 where there is none.
double best_drafting_gain(const std::vector<Outcome>& outcomes, const sim::CompiledRound& round, const Limits& limits) {
    double gain = 0.0;
    for (const Outcome& outcome : outcomes) {
        const std::optional<Limit> broken = broken_limit(outcome, round, limits);
        if (outcome.speculation != sim::drafting_off && (!broken || *broken == Limit::gain)) {
            gain = std::max(gain, outcome.gain);
        }
    }
    return gain;
}

/// Of them, the one whose sequences need the most room for recurrent states.
int most_states(const sim::CompiledRound& round, const std::vector<int>& speculations) {
    return *std::max_element(speculations.begin(), speculations.end(), [&](int a, int b) {
        return sim::state_memory(round.memory, round.row(a)) < sim::state_memory(round.memory, round.row(b));
    });
}

/// `choices`: with drafting_off in place of plain decoding. `loads`: what they leave; null: everything.
Schedule schedule_of(const sim::CompiledRound& round, const std::vector<int>& choices, const Workload& workload,
                     const LoadChoices* loads, int largest_batch, int preferred) {
    Schedule schedule;
    const Limits limits = of_batches(workload.limits);
    const int asked = largest_batch_asked(round, choices.back(), workload.traffic);
    std::vector<double> speedups;
    std::vector<std::size_t> allowed;  // how many choices keep the limits, by batch from 1
    std::vector<BatchChoices> batches;
    for (int batch = 1; batch <= largest_batch; ++batch) {
        BestOutcome best;
        std::vector<Outcome> outcomes;
        BatchChoices at_batch = choices_at(round, choices, workload, loads, batch, best, outcomes);
        if (best.within == nullptr) {
            schedule.end_limit = outcomes.empty() ? Limit::memory : broken_limit(outcomes.front(), round, limits);
            break;
        }
        speedups.push_back(best.within->speedup);
        schedule.gains.push_back(best_drafting_gain(outcomes, round, limits));
        allowed.push_back(at_batch.outcomes.size());
        if (best.within->speculation != sim::drafting_off && best.within->gain >= workload.limits.minimum_gain) {
            schedule.switch_off_batch.reset();
            schedule.switch_off_limit.reset();
        } else if (!schedule.switch_off_batch) {
            schedule.switch_off_batch = batch;
            schedule.switch_off_limit = best.in_the_way;
            const auto is_off = [](const Outcome& outcome) { return outcome.speculation == sim::drafting_off; };
            if (choices.size() > 1 && std::all_of(outcomes.begin(), outcomes.end(), is_off)) {
                schedule.switch_off_limit = Limit::memory;  // of what drafts, nothing fits
            }
        }
        schedule.largest_batch = batch;
        if (batch <= asked) {
            batches.push_back(std::move(at_batch));
        }
    }
    schedule.entries = ranges_of(round, batches, preferred == 0 ? sim::drafting_off : preferred);
    stop_as_the_ranges_do(schedule);
    schedule.steps = steps_of(speedups);
    std::erase_if(schedule.steps, [&](const ScheduleStep& step) {
        const auto after = static_cast<std::size_t>(step.batch);
        return step.batch >= asked || allowed[after] < allowed[after - 1];  // a limit takes a length away there
    });
    follow(round, workload, schedule);
    return schedule;
}

}  // namespace

int largest_batch_asked(const sim::CompiledRound& round, const DraftPlan& plan, const Traffic& traffic) {
    double largest = 1.0;
    for (std::size_t i = 0; i < traffic.points.size(); ++i) {
        const TrafficPoint& point = traffic.points[i];
        largest = std::max(largest, traffic.kind == LoadKind::arrival_rate
                                        ? std::max(settle(round, plan.at(i), traffic.kind, point).batch,
                                                   settle(round, 0, traffic.kind, point).batch)
                                        : point.load);
    }
    return static_cast<int>(std::ceil(largest));
}

Schedule schedule_for(const sim::CompiledRound& stated, const std::vector<int>& speculations, const Workload& workload,
                      int largest_batch, int preferred) {
    const StartedRound server(stated, most_states(stated, speculations));
    const sim::CompiledRound& round = server.get();
    std::vector<int> choices = speculations;
    std::replace(choices.begin(), choices.end(), 0, sim::drafting_off);
    Schedule schedule = schedule_of(round, choices, workload, nullptr, largest_batch, preferred);
    if (!schedule.broken || *schedule.broken == Limit::gain) {
        return schedule;
    }
    const LoadChoices loads(round, choices, workload.traffic, workload.limits);
    return schedule_of(round, choices, workload, &loads, largest_batch, preferred);
}

}  // namespace treeline::sweeps
