#include "sweeps/most_rate.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "numerics/bisection.h"
#include "sweeps/deadline.h"

namespace treeline::sweeps {
namespace {

constexpr int rate_halvings = 24;
constexpr double one_more_per_cent = 1.01;
constexpr double just_below = 1.0 - 1e-9;  ///< that of a full server, so that no rounding error makes it too much
constexpr double slowest = 1e-6;           ///< share of it: one request alone

/// The rate of a server that is always full, at every point of the traffic.
double rate_of_full_server(const sim::CompiledRound& round, int speculation, const Traffic& traffic) {
    double most = sim::unlimited;
    for (const TrafficPoint& point : traffic.points) {
        most = std::min(most, most_arrivals(round, speculation, point.context));
    }
    return most * just_below;
}

sim::CompiledRound with_accept_length(const sim::CompiledRound& round, int speculation, double length) {
    sim::CompiledRound other = round;
    other.rows[static_cast<std::size_t>(speculation)].accepted.length = length;
    return other;
}

/// The ratio of rates of a round and of its plain decoding, where both serve any; else `otherwise`.
double ratio_of_rates(const sim::CompiledRound& round, int speculation, const Workload& workload, double otherwise) {
    const double plain = most_rate(round, 0, workload), best = most_rate(round, speculation, workload);
    return plain > 0.0 && best > 0.0 ? best / plain : otherwise;
}

/// The errors of speed-ups at the batch of the rate, as those of the ratio of rates.
std::optional<MeasuredGain> measured_ratio(const sim::CompiledRound& round, const sim::RoundSetup& setup,
                                           const Recommendation& found, const Workload& workload, double speed_up,
                                           const MeasuredErrors& errors, const UnmeasuredFactors& unmeasured) {
    const Candidate& best = found.candidates.front();
    std::optional<MeasuredGain> measured = measured_gain(setup, found.settled, speed_up, errors, unmeasured);
    const double length = round.row(best.speculation).accepted.length;
    const double plain = best.requests_per_second / best.gain;
    for (double MeasuredGain::*end :
         {&MeasuredGain::low, &MeasuredGain::high, &MeasuredGain::engine_low, &MeasuredGain::engine_high}) {
        if (measured) {
            double& of = (*measured).*end;
            const double moved = length * of / speed_up;
            of = most_rate(with_accept_length(round, best.speculation, moved), best.speculation, workload) / plain;
        }
    }
    return measured;
}

}  // namespace

Workload at_rate(const Workload& workload, double rate) {
    Workload asked = workload;
    asked.most_arrivals = false;
    asked.objective = Objective::latency;
    asked.limits.first_token_growth = asked.limits.waiting = sim::unlimited;
    asked.limits.minimum_gain = 0.0;
    for (TrafficPoint& point : asked.traffic.points) {
        point.load = rate;
    }
    return asked;
}

std::optional<Limit> broken_at_rate(const sim::CompiledRound& round, int speculation, const Workload& workload, double rate) {
    check_deadline();
    const Workload asked = at_rate(workload, rate);
    const Outcome outcome = outcomes_of(round, {speculation}, asked.traffic, asked.objective).front();
    if (const std::optional<Limit> broken = broken_limit(outcome, round, asked.limits)) {
        return broken;
    }
    const std::optional<Seconds>& first = asked.limits.time_to_first_token;
    return first && outcome.means.first_token > *first ? std::optional(Limit::time_to_first_token) : std::nullopt;
}

double most_rate(const sim::CompiledRound& round, int speculation, const Workload& workload) {
    const auto keeps = [&](double rate) { return !broken_at_rate(round, speculation, workload, rate); };
    const double full = rate_of_full_server(round, speculation, workload.traffic);
    if (keeps(full)) {
        return full;
    }
    if (!keeps(full * slowest)) {
        return 0.0;
    }
    const auto highest_between = [&](double low, double high) {
        return numerics::bisect({low, high}, rate_halvings, keeps).low;
    };
    double most = highest_between(full * slowest, full);
    // Where kernels take rows in tiles, a rate may keep a limit again that a slightly smaller one breaks.
    while (one_more_per_cent * most < full && keeps(one_more_per_cent * most)) {
        most = highest_between(one_more_per_cent * most, full);
    }
    return most;
}

double accept_length_for_rate(const sim::CompiledRound& round, int speculation, const Workload& workload, double rate) {
    constexpr double shortest = 1.0 / 64.0, longest = 64.0;
    constexpr int halvings = 24;
    const auto serves = [&](double length) {
        return !broken_at_rate(with_accept_length(round, speculation, length), speculation, workload, rate);
    };
    if (!serves(longest)) {
        return sim::unlimited;
    }
    double below = shortest, above = longest;
    for (int i = 0; i < halvings; ++i) {
        const double middle = std::sqrt(below * above);
        (serves(middle) ? above : below) = middle;
    }
    return above;
}

std::optional<MostRateTrust> trust_of_most_rate(const Recommendation& found, const Workload& workload,
                                                const MeasuredErrors& errors) {
    const Candidate& best = found.candidates.front();
    if (!(found.plain.requests_per_second > 0.0)) {
        return std::nullopt;
    }
    const sim::RoundSetup& setup = found.variants[best.variant].setup;
    const sim::CompiledRound round = sim::compile_round(setup);
    const double stated = ratio_of_rates(round, best.speculation, workload, best.gain);
    MostRateTrust result;
    result.interval = over_plain_of_another_cut(
        gain_interval(
            setup, stated,
            [&](const sim::CompiledRound& moved) { return ratio_of_rates(moved, best.speculation, workload, stated); }),
        best.gain);
    result.interval.of_capacity = true;
    const double speed_up = round.row(best.speculation).accepted.length / best.break_even_accept_length;
    const UnmeasuredFactors unmeasured =
        unmeasured_factors(gain_interval(setup, best.speculation, found.settled, Objective::throughput));
    result.trust.measured = measured_ratio(round, setup, found, workload, speed_up, errors, unmeasured);
    if (result.trust.measured) {
        std::vector<GainAt> gains;
        for (const TrafficPoint& point : found.settled.points) {
            gains.push_back({point.load, speed_up, point.share});
        }
        result.trust.chances = chances_of(setup, gains, 1.0, errors, unmeasured);
    }
    return result;
}

std::optional<RejectedDrafting> rejected_at_most_rate(const Recommendation& found) {
    const std::optional<Candidate>& drafting = found.most_rate->drafting;
    if (!drafting) {
        return std::nullopt;
    }
    RejectedDrafting rejected;
    rejected.label = fmt::format("{} with {}", found.variants[drafting->variant].labels.drafter,
                                 found.speculations[static_cast<std::size_t>(drafting->speculation)].label);
    rejected.gain = drafting->gain;
    return rejected;
}

}  // namespace treeline::sweeps
