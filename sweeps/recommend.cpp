#include "sweeps/recommend.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "sim/operations.h"
#include "sweeps/most_rate.h"
#include "sweeps/recommend_inside.h"

namespace treeline::sweeps {
namespace {

constexpr int largest_scheduled_batch = 1024;

bool before(const Candidate& a, const Candidate& b) {
    return std::tuple(a.objective, a.variant, a.draft_tokens, a.speculation) <
           std::tuple(b.objective, b.variant, b.draft_tokens, b.speculation);
}

std::vector<Candidate> best_of_each_other_variant(const std::vector<Candidate>& sorted) {
    std::set<std::size_t> seen = {sorted.front().variant};
    std::vector<Candidate> runners_up;
    for (const Candidate& candidate : sorted) {
        if (seen.insert(candidate.variant).second) {
            runners_up.push_back(candidate);
        }
    }
    return runners_up;
}

/// Takes what nobody can run yet out of sorted candidates: the best of each such variant.
std::vector<Candidate> take_untrained(std::vector<Candidate>& candidates, const std::vector<Variant>& variants) {
    const auto untrained = std::stable_partition(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
        return !variants[candidate.variant].untrained;
    });
    std::set<std::size_t> seen;
    std::vector<Candidate> best;
    std::copy_if(untrained, candidates.end(), std::back_inserter(best),
                 [&](const Candidate& candidate) { return seen.insert(candidate.variant).second; });
    candidates.erase(untrained, candidates.end());
    return best;
}

int largest_batch_of_interest(const Traffic& traffic) {
    return static_cast<int>(std::clamp(4.0 * largest_batch_of(traffic), 64.0, 1024.0));
}

/// For each variant and batch (powers of two) the fastest shape that fits, with the Pareto front marked.
std::vector<TradeoffPoint> tradeoffs_of(const std::vector<Prepared>& prepared, const std::vector<Variant>& variants,
                                        const Traffic& traffic) {
    const double context = typical_point(traffic).context;
    std::vector<TradeoffPoint> points;
    for (std::size_t variant = 0; variant < prepared.size(); ++variant) {
        const sim::CompiledRound& round = prepared[variant].round;
        const bool runs = prepared[variant].problem.empty() && !variants[variant].untrained;
        for (double batch = 1.0; runs && batch <= largest_batch_of_interest(traffic); batch *= 2.0) {
            if (const auto best = fastest_that_fits(round, prepared[variant].speculations, batch, context)) {
                const sim::RoundEstimate& e = best->estimate;
                points.push_back({variant, best->speculation, static_cast<int>(round.row(best->speculation).draft_tokens),
                                  batch, context, e.tokens_per_second_user, e.tokens_per_second_device, e.throughput_multiplier,
                                  e.energy_per_token, false, round.row(best->speculation).accepted.basis});
            }
        }
    }
    std::vector<Tradeoff> tradeoffs;
    for (std::size_t i = 0; i < points.size(); ++i) {
        tradeoffs.push_back({points[i].tokens_per_second_user, points[i].tokens_per_second_device, i});
    }
    for (const Tradeoff& on_front : pareto_front(tradeoffs)) {
        points[on_front.id].on_front = true;
    }
    return points;
}

/// Gains between the largest rates, over those of plain decoding.
void compare_rates_with_plain(std::vector<Candidate>& candidates, const Judged& all, const Workload& workload) {
    for (Candidate& candidate : candidates) {
        const Candidate& best = *plain_beside(all, candidate.variant);
        candidate.gain = best.objective / candidate.objective;
        candidate.gain_of_capacity = true;
        candidate.speedup = best.time_per_token / candidate.time_per_token;
        candidate.break_even_accept_length = accept_length_at(candidate, candidate.gain, workload.objective);
    }
    std::erase_if(candidates, [&](const Candidate& candidate) {
        return candidate.draft_tokens > 0 && candidate.gain < workload.limits.minimum_gain;
    });
}

Capacity capacity_of(const sim::CompiledRound& round, const sim::Model& target, int speculation, const Traffic& traffic) {
    Capacity capacity;
    capacity.context = longest_context_of(traffic);
    capacity.plain = most_sequences(round, 0, capacity.context);
    capacity.off = most_sequences(StartedRound(round, speculation).get(), sim::drafting_off, capacity.context);
    capacity.drafting = most_sequences(round, speculation, capacity.context);
    // A context of unknown length may be too long, unless nothing of it is cached.
    capacity.whole_context = target.max_context ? sim::memory_holds(round, round.row(speculation), round.groups,
                                                                    static_cast<double>(*target.max_context))
                                                : sim::caches_of(target, target.precision, 1.0).empty();
    capacity.allowed = round.memory.capacity;
    capacity.parts = sim::memory_parts(round, {speculation, std::max(1.0, capacity.drafting), capacity.context});
    return capacity;
}

/// Those of them that one server may change between as its batch does; plain decoding is always named.
std::vector<int> switchable(const std::vector<int>& runnable, const std::vector<sim::Speculation>& speculations,
                            Switching switching, int best) {
    const auto chain = [&](int i) { return sim::is_chain(speculations[static_cast<std::size_t>(i)]); };
    const bool fixed = switching == Switching::nothing || (switching == Switching::lengths && !chain(best));
    std::vector<int> all;
    std::copy_if(runnable.begin(), runnable.end(), std::back_inserter(all),
                 [&](int i) { return switching == Switching::shapes || (fixed ? i == 0 || i == best : chain(i)); });
    return all;
}

/// What a server may be started for: where sequences keep states for its longest draft, the choices up to the recommended
/// length, or up to each longer one; else all of them.
std::vector<std::vector<int>> starts_of(const sim::CompiledRound& round, const std::vector<int>& choices,
                                        const Candidate& best) {
    std::vector<std::vector<int>> starts;
    for (const int longest : choices) {
        const double most = round.row(longest).draft_tokens;
        if (keeps_states(round, longest) && most >= best.draft_tokens) {
            std::vector<int>& start = starts.emplace_back();
            std::copy_if(choices.begin(), choices.end(), std::back_inserter(start),
                         [&](int i) { return round.row(i).draft_tokens <= most; });
        }
    }
    return starts.empty() ? std::vector<std::vector<int>>{choices} : starts;
}

/// Of the schedules that servers can be started for, the one that gains most over the load within the limits.
Schedule best_start(const sim::CompiledRound& round, const Workload& workload, const std::vector<int>& choices,
                    const Candidate& best) {
    std::optional<Schedule> chosen;
    for (const std::vector<int>& start : starts_of(round, choices, best)) {
        Schedule schedule = schedule_for(round, start, workload, largest_scheduled_batch, best.speculation);
        const auto keeps = [](const Schedule& each) { return !each.broken || *each.broken == Limit::gain; };
        if (!chosen || std::pair(keeps(schedule), schedule.gain) > std::pair(keeps(*chosen), chosen->gain)) {
            chosen = std::move(schedule);
        }
    }
    return *chosen;
}

/// Whether all that a schedule drafts is one speculation other than the recommended one.
bool drafts_another_alone(const Schedule& schedule, const Candidate& best) {
    std::set<int> drafted;
    for (const ScheduleEntry& entry : schedule.entries) {
        drafted.insert(entry.speculation);
    }
    drafted.erase(0);
    return drafted.size() == 1 && *drafted.begin() != best.speculation;
}

/// The lengths of all that a server can change between; where those yield less over the load than the recommended one alone,
/// as on a server that is full and settles elsewhere with each length: that one alone, where it is off if its plan has that. A
/// schedule of one length that gains nothing over the recommended one is of that.
Schedule best_schedule(const sim::CompiledRound& round, const Workload& workload, const std::vector<int>& choices,
                       const Candidate& best) {
    Schedule schedule = best_start(round, workload, choices, best);
    const auto try_instead = [&](const std::vector<int>& others, const Workload& asked) {
        if (best.draft_tokens > 0 && schedule.gain < best.gain) {
            Schedule other = schedule_for(round, others, asked, largest_scheduled_batch, best.speculation);
            schedule = other.gain > schedule.gain ? std::move(other) : schedule;
        }
    };
    try_instead({0, best.speculation}, workload);
    if (best.draft_tokens > 0 && drafts_another_alone(schedule, best) && schedule.gain <= worthwhile_schedule * best.gain) {
        schedule = schedule_for(round, {0, best.speculation}, workload, largest_scheduled_batch, best.speculation);
    }
    if (schedule.gain < best.gain * (1.0 - schedule_tolerance)) {
        Workload anyhow = workload;  // the gain that is asked for is that over the load
        anyhow.limits.minimum_gain = 0.0;
        try_instead(best.plan.by_point.empty() ? std::vector<int>{best.speculation} : std::vector<int>{0, best.speculation},
                    anyhow);
    }
    return schedule;
}

/// The schedules of the recommended variant, and what its server holds. `best` is the recommendation at the workload's loads.
void add_schedules(const sim::CompiledRound& round, const Workload& workload, const Candidate& best, Recommendation& answer) {
    const Switching switching = answer.variants[best.variant].switching;
    answer.schedule =
        best_schedule(round, workload, switchable(runnable(round), workload.speculations, switching, best.speculation), best);
    answer.settled = settled_on(round, best.plan, workload.traffic);
    answer.capacity = capacity_of(round, answer.variants[best.variant].setup.target, best.speculation, workload.traffic);
    answer.capacity.compared =
        most_sequences(sim::compile_round(answer.variants[answer.plain.variant].setup), 0, answer.capacity.context);
}

/// The variants without a candidate, what a limit keeps from being the best first, and what nobody can run yet last.
std::vector<std::size_t> excluded_of(const std::vector<VariantOutcome>& outcomes, const std::vector<Variant>& variants) {
    std::vector<std::size_t> excluded;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        if (outcomes[i].candidates.empty()) {
            excluded.push_back(i);
        }
    }
    const auto order = [&](std::size_t i) { return std::pair(variants[i].untrained, outcomes[i].objective); };
    std::stable_sort(excluded.begin(), excluded.end(), [&](std::size_t a, std::size_t b) { return order(a) < order(b); });
    return excluded;
}

std::optional<Exclusion> nearest_exclusion(const Judged& all) {
    const std::optional<std::size_t> nearest = nearest_miss_of(all);
    return nearest
               ? std::optional(Exclusion{all.variants[*nearest].labels.text(), all.outcomes[*nearest].nearest_reason, *nearest})
               : std::nullopt;
}

}  // namespace

std::vector<DeviceChoice> best_of_each_device(const Recommendation& recommendation) {
    std::vector<DeviceChoice> choices;
    std::set<std::string> seen;
    for (const Candidate& candidate : recommendation.candidates) {
        const std::string platform = recommendation.variants[candidate.variant].labels.platform();
        if (seen.insert(platform).second) {
            choices.push_back({platform, &candidate});
        }
    }
    return choices;
}

namespace {

/// Where plain decoding is the best, whatever drafts serves the largest rate, over it.
std::optional<Candidate> best_that_drafts(const Judged& all, const Candidate& plain) {
    std::optional<Candidate> best;
    for (const VariantOutcome& outcome : all.outcomes) {
        for (const Candidate& candidate : outcome.candidates) {
            const bool drafts = candidate.draft_tokens > 0 && !all.variants[candidate.variant].untrained;
            if (plain.draft_tokens == 0 && drafts && (!best || before(candidate, *best))) {
                best = candidate;
                best->gain = plain.objective / candidate.objective;
            }
        }
    }
    return best;
}

/// What a recommendation at its largest rate has beside others: the rate as its traffic, the limits that hold it there, and the
/// accept length with which it would serve no more than plain decoding.
void add_most_rate(const Judged& all, const Workload& workload, Recommendation& answer) {
    Candidate& best = answer.candidates.front();
    const sim::CompiledRound& round = all.prepared[best.variant].round;
    Workload asked = at_rate(workload, best.requests_per_second);
    asked.limits.minimum_gain = workload.limits.minimum_gain;
    const auto held_by = [&](const Candidate& candidate) {
        const double more = std::max(rate_nearly_alone, 1.01 * candidate.requests_per_second);
        return broken_at_rate(all.prepared[candidate.variant].round, candidate.speculation, workload, more)
            .value_or(Limit::load);
    };
    answer.most_rate = MostRate{best.requests_per_second, answer.plain.requests_per_second, held_by(best),
                                held_by(answer.plain), best_that_drafts(all, best)};
    answer.traffic = asked.traffic;
    if (answer.speculate) {  // where plain decoding serves no rate, any is more
        best.break_even_accept_length = accept_length_for_rate(
            round, best.speculation, workload, std::max(rate_nearly_alone, best.requests_per_second / best.gain));
    }
    const Outcome there = outcomes_of(round, {best.speculation}, asked.traffic, asked.objective).front();
    add_schedules(round, asked,
                  candidate_of(all.prepared[best.variant], best.variant, best.speculation, there, asked.objective), answer);
    answer.schedule.gain *= std::isfinite(best.gain) ? best.gain / there.gain : 1.0;
}

/// Schedules are compared on the recommended cut of the devices, and gains are over the plain decoding that may be on another.
void add_schedules_of_load(const sim::CompiledRound& round, const Workload& workload, Recommendation& answer) {
    Candidate best = answer.candidates.front();
    Workload asked = workload;
    asked.limits = limits_for(answer, best.variant);
    const double gain = best.gain;
    best.gain = outcomes_of(round, {&best.plan, 1}, workload.traffic, workload.objective).front().gain;
    add_schedules(round, asked, best, answer);
    answer.schedule.gain *= gain / best.gain;
}

/// What beside the recommendation would be the better choice where its accept length is shorter.
void add_flip(const Judged& all, const Workload& workload, Recommendation& answer) {
    Candidate& best = answer.candidates.front();
    answer.flip = flip_length_of(answer, all.prepared, workload);
    if (workload.traffic.kind == LoadKind::arrival_rate && !best.gain_of_capacity) {
        best.break_even_accept_length = accept_length_under_arrivals(
            all.prepared[best.variant].round, best.plan, workload.traffic, workload.objective, best.objective * best.gain);
    }
}

/// All candidates of judged variants, best first, in an answer that says nothing of the recommended one yet.
Recommendation ranked(const Judged& all, const Workload& workload) {
    Recommendation answer;
    answer.traffic = workload.traffic;
    answer.objective = workload.objective;
    answer.limits = workload.limits;
    answer.own_plain = all.own_plain;
    answer.variants = all.variants;
    answer.speculations = workload.speculations;
    for (const VariantOutcome& of_variant : all.outcomes) {
        answer.candidates.insert(answer.candidates.end(), of_variant.candidates.begin(), of_variant.candidates.end());
    }
    for (const std::size_t i : excluded_of(all.outcomes, answer.variants)) {
        answer.excluded.push_back({answer.variants[i].labels.text(), all.outcomes[i].reason, i});
    }
    answer.excluded.insert(answer.excluded.end(), workload.excluded.begin(), workload.excluded.end());
    if (workload.most_arrivals) {
        compare_rates_with_plain(answer.candidates, all, workload);
    }
    std::sort(answer.candidates.begin(), answer.candidates.end(), before);
    answer.untrained = take_untrained(answer.candidates, answer.variants);
    for (std::vector<Candidate>* list : {&answer.candidates, &answer.untrained}) {
        for (Candidate& candidate : *list) {
            candidate.regret =
                answer.candidates.empty() ? 0.0 : candidate.objective / answer.candidates.front().objective - 1.0;
        }
    }
    return answer;
}

}  // namespace

RecommendationResult answer_for(const Workload& workload, unsigned threads) {
    const Judged all = judged(workload, threads);
    Recommendation answer = ranked(all, workload);
    if (answer.candidates.empty()) {
        return {std::nullopt, std::move(answer.excluded), nearest_exclusion(all)};
    }
    const Candidate& best = answer.candidates.front();
    answer.runners_up = best_of_each_other_variant(answer.candidates);
    answer.speculate = best.draft_tokens > 0;
    answer.plain = *plain_beside(all, best.variant);
    if (workload.most_arrivals) {
        add_most_rate(all, workload, answer);
    } else {
        add_schedules_of_load(all.prepared[best.variant].round, workload, answer);
    }
    answer.tradeoffs = tradeoffs_of(all.prepared, answer.variants, answer.settled);
    if (answer.speculate && !workload.most_arrivals) {
        add_flip(all, workload, answer);
    }
    std::vector<Exclusion> excluded = answer.excluded;
    return {std::move(answer), std::move(excluded)};
}

RecommendationResult recommend(const Workload& workload, unsigned threads) {
    RecommendationResult result = answer_for(workload, threads);
    if (result.recommendation || workload.most_arrivals) {
        return result;
    }
    if (auto partly = without_unserved(workload, threads); partly && partly->recommendation) {
        return std::move(*partly);
    }
    if (auto full = saturated(workload, threads); full && full->recommendation) {
        return std::move(*full);
    }
    return result;
}

}  // namespace treeline::sweeps
