#include "sweeps/goal.h"

#include <algorithm>
#include <cmath>

#include "sweeps/deadline.h"

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

namespace {

/// The growth of a mean TTFT that is allowed beside a plain decoding, whose TTFT is the own cut's over `own`, and which decodes
/// an answer in `slower` of its TTFTs less than that. `waiting`: more than there; `saved`: Outcome::saved.
double allowed_growth(double waiting, std::optional<double> saved, double own, double slower, const Limits& limits) {
    const double there = limits.first_token_of_saved * (waiting > 0.0 && saved ? *saved * own - slower : 0.0);
    return there > 0.0 ? std::max(limits.first_token_growth, 1.0 + there) : limits.first_token_growth;
}

/// More wait for a place than are allowed, and the first token comes no sooner than it must: a queue may be longer and yet
/// faster. `growth` is over plain decoding on the same cut of the devices.
bool waits_too_long(double waiting, double growth, std::optional<double> saved, bool stated, const Limits& limits) {
    const OwnPlain& own = limits.own_plain;
    const double there = growth * own.first_token_there;
    const bool soon = stated
                          ? there < 1.0
                          : saved && there <= allowed_growth(waiting, saved, own.first_token_there, own.slower_there, limits);
    return waiting > limits.waiting && !soon;
}

/// Outcome::saved of two estimates of means.
template <class Times>
double saved_by(const sim::CompiledRound& round, const Times& plain, const Times& drafting) {
    return (plain.time_per_token - drafting.time_per_token) * round.output_tokens / plain.first_token;
}

/// Points that arrive faster than they can be served have no steady state: what a plan serves at most, over all points.
double most_served(const sim::CompiledRound& stated, const DraftPlan& plan, const Traffic& traffic) {
    const StartedRound server = server_of(stated, plan);
    const sim::CompiledRound& round = server.get();
    double most = 0.0;
    for (std::size_t i = 0; i < traffic.points.size(); ++i) {
        const TrafficPoint& point = traffic.points[i];
        const double batch = std::max(1.0, most_sequences(round, plan.at(i), point.context));
        most += point.share * sim::evaluate(round, {plan.at(i), batch, point.context}).tokens_per_second_device;
    }
    return most;
}

/// Estimates of one plan at the points of a traffic.
struct Served {
    std::vector<SettledLoad> loads;
    std::vector<sim::RoundEstimate> estimates;
};

Served served_by(const sim::CompiledRound& round, const DraftPlan& plan, const Traffic& traffic) {
    Served served;
    served.loads.reserve(traffic.points.size());
    served.estimates.reserve(traffic.points.size());
    for (std::size_t i = 0; i < traffic.points.size(); ++i) {
        check_deadline();
        const TrafficPoint& point = traffic.points[i];
        const int speculation = plan.at(i);
        served.loads.push_back(settle(round, speculation, traffic.kind, point));
        const SettledLoad& load = served.loads.back();
        served.estimates.push_back(under_load(round, speculation, {traffic.kind, point.load}, load,
                                              sim::evaluate(round, {speculation, load.batch, point.context})));
    }
    return served;
}

/// The limit that a speculation breaks at one point, judged beside plain decoding there.
std::optional<Limit> broken_at(const sim::CompiledRound& round, int speculation, const Traffic& traffic, const Limits& limits,
                               std::size_t point, const Served& served, const Served& plain) {
    const SettledLoad& load = served.loads[point];
    const sim::RoundEstimate& estimate = served.estimates[point];
    if (!load.problem.empty()) {
        return Limit::load;
    }
    if (estimate.memory > allowed_memory(round, speculation, limits)) {
        return Limit::memory;
    }
    if (limits.time_per_token && estimate.time_per_token > *limits.time_per_token) {
        return Limit::time_per_token;
    }
    const double beside = waiting_share(plain.loads[point].batch, plain.loads[point].queued);
    const bool by_batch = traffic.kind == LoadKind::batch;
    const sim::RoundEstimate& without = plain.estimates[point];
    const double own = limits.own_plain.at(point);
    const double growth = by_batch ? 1.0 : estimate.first_token / without.first_token;
    const std::optional<double> saved = by_batch ? std::nullopt : std::optional(saved_by(round, without, estimate));
    if (!by_batch && limits.time_to_first_token && estimate.first_token > *limits.time_to_first_token) {
        return Limit::time_to_first_token;
    }
    const double waiting = waiting_share(load.batch, load.queued) - beside + limits.own_plain.waiting_at_point(point);
    if (waits_too_long(waiting, growth, saved, limits.waiting_stated, limits)) {
        return Limit::waiting;
    }
    const bool grows = growth * own > allowed_growth(waiting, saved, own, limits.own_plain.slower, limits);
    return grows ? std::optional(Limit::first_token_growth) : std::nullopt;
}

/// The server of plain decoding, then that of each plan.
std::vector<StartedRound> servers_of(const sim::CompiledRound& round, std::span<const DraftPlan> plans) {
    std::vector<StartedRound> servers;
    servers.reserve(plans.size() + 1);
    servers.push_back(server_of(round, 0));
    for (const DraftPlan& plan : plans) {
        servers.push_back(server_of(round, plan));
    }
    return servers;
}

/// Outcome::waiting.
double waiting_of(const Traffic& traffic, bool keeps_room, std::span<const SettledLoad> loads,
                  std::span<const SettledLoad> plain_loads, const TrafficMeans& means, const TrafficMeans& plain) {
    if (traffic.kind != LoadKind::batch || !keeps_room) {
        return waiting_share(means.in_service, means.queued) - waiting_share(plain.in_service, plain.queued);
    }
    double least = 1.0;
    for (std::size_t i = 0; i < loads.size(); ++i) {
        const double beside = waiting_share(plain_loads[i].batch, plain_loads[i].queued);
        least = std::min(least, waiting_share(loads[i].batch, loads[i].queued) - beside);
    }
    return least;
}

}  // namespace

std::vector<Outcome> outcomes_of(const sim::CompiledRound& round, std::span<const DraftPlan> plans, const Traffic& traffic,
                                 Objective objective) {
    const std::size_t points = traffic.points.size();
    const std::size_t count = (plans.size() + 1) * points;  // plain decoding first, to compare with
    std::vector<int> choices(count, 0);
    std::vector<double> batches(count), contexts(count);
    std::vector<SettledLoad> loads(count);
    const std::vector<StartedRound> servers = servers_of(round, plans);
    for (std::size_t i = 0; i < count; ++i) {
        check_deadline();
        const TrafficPoint& point = traffic.points[i % points];
        choices[i] = i < points ? 0 : plans[i / points - 1].at(i % points);
        loads[i] = settle(servers[i / points].get(), choices[i], traffic.kind, point);
        batches[i] = loads[i].batch;
        contexts[i] = point.context;
    }
    std::vector<sim::RoundEstimate> estimates(count);
    sim::evaluate(round, {choices, batches, contexts}, estimates);
    for (std::size_t i = 0; i < count; ++i) {
        const sim::CompiledRound& server = servers[i / points].get();
        if (&server != &round) {
            estimates[i] = sim::evaluate(server, {choices[i], batches[i], contexts[i]});
        }
        estimates[i] = under_load(server, choices[i], {traffic.kind, traffic.points[i % points].load}, loads[i], estimates[i]);
    }

    const auto means_from = [&](std::size_t first) {
        return means_over(traffic, std::span(loads).subspan(first, points), std::span(estimates).subspan(first, points));
    };
    const TrafficMeans plain = means_from(0);
    const std::string plain_problem = problem_of(std::span(loads).first(points));
    std::vector<Outcome> outcomes;
    outcomes.reserve(plans.size());
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const std::size_t first = (i + 1) * points;
        Outcome outcome;
        outcome.speculation = plans[i].speculation;
        outcome.means = means_from(first);
        outcome.objective = objective_of(outcome.means, objective);
        outcome.problem = problem_of(std::span(loads).subspan(first, points));
        const bool overrun = traffic.kind == LoadKind::arrival_rate && !(outcome.problem.empty() && plain_problem.empty());
        outcome.gain_of_capacity = overrun;
        outcome.gain = overrun ? most_served(round, plans[i], traffic) / most_served(round, 0, traffic)
                               : objective_of(plain, objective) / outcome.objective;
        outcome.speedup = plain.time_per_token / outcome.means.time_per_token;
        outcome.first_token_growth = traffic.kind == LoadKind::batch ? 1.0 : outcome.means.first_token / plain.first_token;
        if (traffic.kind != LoadKind::batch) {
            outcome.saved = saved_by(round, plain, outcome.means);
        }
        outcome.waiting =
            waiting_of(traffic, keeps_states(round, plans[i].speculation), std::span(loads).subspan(first, points),
                       std::span(loads).first(points), outcome.means, plain);
        outcomes.push_back(std::move(outcome));
    }
    return outcomes;
}

std::vector<Outcome> outcomes_of(const sim::CompiledRound& round, const std::vector<int>& speculations, const Traffic& traffic,
                                 Objective objective) {
    const std::vector<DraftPlan> plans(speculations.begin(), speculations.end());
    return outcomes_of(round, plans, traffic, objective);
}

Outcome outcome_with_length(const sim::CompiledRound& round, const DraftPlan& plan, const Traffic& traffic, Objective objective,
                            double accept_length) {
    sim::CompiledRound other = round;
    other.rows[static_cast<std::size_t>(plan.speculation)].accepted.length = accept_length;
    return outcomes_of(other, {&plan, 1}, traffic, objective).front();
}

double accept_length_under_arrivals(const sim::CompiledRound& round, const DraftPlan& plan, const Traffic& traffic,
                                    Objective objective, double figure) {
    constexpr double shortest = 1.0 / 64.0, longest = 64.0;
    constexpr int halvings = 40;
    sim::CompiledRound other = round;
    double& length = other.rows[static_cast<std::size_t>(plan.speculation)].accepted.length;
    const auto reaches = [&](double tried) {
        length = tried;
        const Outcome outcome = outcomes_of(other, {&plan, 1}, traffic, objective).front();
        return outcome.problem.empty() && outcome.objective <= figure;
    };
    if (!reaches(longest)) {
        return sim::unlimited;
    }
    double below = shortest, above = longest;
    for (int i = 0; i < halvings && above > below * (1.0 + 1e-5); ++i) {
        const double middle = std::sqrt(below * above);
        (reaches(middle) ? above : below) = middle;
    }
    return above;
}

std::vector<Seconds> first_tokens_of(const sim::CompiledRound& round, const DraftPlan& plan, const Traffic& traffic) {
    std::vector<Seconds> first_tokens;
    for (const sim::RoundEstimate& estimate : served_by(round, plan, traffic).estimates) {
        first_tokens.push_back(estimate.first_token);
    }
    return first_tokens;
}

DraftPlan plan_within(const sim::CompiledRound& round, int speculation, const Traffic& traffic, const Limits& limits) {
    const Served plain = served_by(round, 0, traffic), drafting = served_by(round, speculation, traffic);
    std::optional<Served> off;
    std::vector<int> by_point(traffic.points.size(), speculation);
    bool mixed = false;
    for (std::size_t i = 0; i < traffic.points.size(); ++i) {
        if (broken_at(round, speculation, traffic, limits, i, drafting, plain)) {
            if (!off) {
                off = served_by(StartedRound(round, speculation).get(), sim::drafting_off, traffic);
            }
            const bool fewer_wait = off->loads[i].queued < drafting.loads[i].queued;
            if (fewer_wait || !broken_at(round, sim::drafting_off, traffic, limits, i, *off, plain)) {
                by_point[i] = sim::drafting_off;
                mixed = true;
            }
        }
    }
    for (std::size_t i = 0; mixed && i < by_point.size(); ++i) {
        // An engine switches by the requests that run: once it may, it drafts nothing where that lets more of them run.
        by_point[i] = off->loads[i].queued < drafting.loads[i].queued ? sim::drafting_off : by_point[i];
    }
    return mixed ? DraftPlan{speculation, std::move(by_point)} : DraftPlan{speculation};
}

PlannedOutcome planned_outcome(const sim::CompiledRound& round, int speculation, const Traffic& traffic, Objective objective,
                               const Limits& limits) {
    PlannedOutcome planned{speculation, outcomes_of(round, {speculation}, traffic, objective).front(), std::nullopt};
    planned.broken = broken_limit(planned.outcome, round, limits);
    if (!planned.broken || *planned.broken == Limit::gain || speculation == 0 || traffic.points.size() < 2) {
        return planned;
    }
    DraftPlan plan = plan_within(round, speculation, traffic, limits);
    if (std::find(plan.by_point.begin(), plan.by_point.end(), speculation) != plan.by_point.end()) {
        PlannedOutcome off{std::move(plan), {}, std::nullopt};
        off.outcome = outcomes_of(round, {&off.plan, 1}, traffic, objective).front();
        off.broken = broken_limit(off.outcome, round, limits);
        if (!off.broken || *off.broken == Limit::gain) {
            return off;
        }
    }
    return planned;
}

LoadChoices::LoadChoices(const sim::CompiledRound& round, const std::vector<int>& speculations, const Traffic& traffic,
                         const Limits& limits) {
    if (traffic.kind == LoadKind::batch) {
        return;
    }
    const Served plain = served_by(round, 0, traffic);
    for (const int speculation : speculations) {
        if (speculation == 0 || speculation == sim::drafting_off) {
            continue;
        }
        const Served served = served_by(round, speculation, traffic);
        std::vector<AtLoad>& loads = loads_[speculation];
        for (std::size_t i = 0; i < traffic.points.size(); ++i) {
            loads.push_back({served.loads[i].batch, broken_at(round, speculation, traffic, limits, i, served, plain)});
        }
    }
}

std::optional<Limit> LoadChoices::broken(int speculation, double batch) const {
    const auto found = loads_.find(speculation);
    if (found == loads_.end() || found->second.empty()) {
        return std::nullopt;
    }
    const auto nearest = std::min_element(found->second.begin(), found->second.end(), [&](const AtLoad& a, const AtLoad& b) {
        return std::abs(std::log(a.batch / batch)) < std::abs(std::log(b.batch / batch));
    });
    return nearest->broken;
}

Bytes allowed_memory(const sim::CompiledRound& round, int speculation, const Limits& limits) {
    const Bytes capacity = round.memory.capacity_of(round.row(speculation));
    return limits.memory ? std::min(*limits.memory, capacity) : capacity;
}

double allowed_first_token_growth(const Outcome& outcome, const Limits& limits) {
    return allowed_growth(outcome.waiting + limits.own_plain.waiting, outcome.saved, limits.own_plain.mean,
                          limits.own_plain.slower, limits);
}

std::optional<Limit> broken_limit(const Outcome& outcome, const sim::CompiledRound& round, const Limits& limits) {
    if (!outcome.problem.empty()) {
        return Limit::load;
    }
    if (outcome.means.peak_memory > allowed_memory(round, outcome.speculation, limits)) {
        return Limit::memory;
    }
    if (limits.time_per_token && outcome.means.worst_time_per_token > *limits.time_per_token) {
        return Limit::time_per_token;
    }
    if (waits_too_long(outcome.waiting + limits.own_plain.waiting, outcome.first_token_growth, outcome.saved,
                       limits.waiting_stated || outcome.speculation == 0, limits)) {
        return Limit::waiting;
    }
    if (outcome.speculation == 0) {
        return std::nullopt;
    }
    if (outcome.first_token_growth * limits.own_plain.mean > allowed_first_token_growth(outcome, limits)) {
        return Limit::first_token_growth;
    }
    if (outcome.speculation != sim::drafting_off && outcome.gain < limits.minimum_gain) {
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
