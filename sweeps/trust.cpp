#include "sweeps/trust.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "numerics/random.h"
#include "numerics/root_of_squares.h"
#include "sim/traits.h"
#include "sweeps/recommend_inside.h"

namespace treeline::sweeps {
namespace {

constexpr int choice_worlds = 20;
constexpr std::size_t most_rivals = 4;
constexpr std::uint64_t world_seed = 7;

/// Intervals by level, each computed once.
class LevelIntervals {
public:
    LevelIntervals(const std::vector<numerics::CaseResidual>& residuals, const sim::RoundSetup& setup)
        : residuals_(residuals), setup_(setup) {}

    const numerics::ResidualInterval& at(double batch) {
        const numerics::CaseTraits traits = traits_of(setup_, batch);
        const auto [found, is_new] = known_.try_emplace(traits.level);
        if (is_new) {
            found->second = numerics::residual_interval(residuals_, traits);
        }
        return found->second;
    }

private:
    const std::vector<numerics::CaseResidual>& residuals_;
    const sim::RoundSetup& setup_;
    std::map<int, numerics::ResidualInterval> known_;
};

/// Means of both ends over the points of a traffic. Errors at different batches go together.
std::pair<double, double> over(const Traffic& traffic, LevelIntervals& intervals) {
    double low = 0.0, high = 0.0;
    for (const TrafficPoint& point : traffic.points) {
        const numerics::ResidualInterval& interval = intervals.at(point.load);
        low += point.share * interval.low;
        high += point.share * interval.high;
    }
    return {low, high};
}

std::optional<OtherMode> other_mode(sim::RoundSetup setup, const DraftPlan& plan, const Workload& workload) {
    const bool calibrated = setup.platform.by_laws();
    if (setup.platform.accelerator || !(calibrated || setup.platform.mode == sim::CostMode::roofline) ||
        !setup.platform.device.calibration) {
        return std::nullopt;
    }
    setup.platform.mode = calibrated ? sim::CostMode::roofline : sim::CostMode::calibrated;
    const sim::CompiledRound round = sim::compile_round(setup);
    return OtherMode{setup.platform.mode, outcomes_of(round, {&plan, 1}, workload.traffic, workload.objective).front().gain};
}

SwitchOffRange switch_off_range(const Schedule& schedule, const sim::RoundSetup& setup, double minimum_gain,
                                const MeasuredErrors& errors, const UnmeasuredFactors& unmeasured) {
    GainShares shares(setup, errors);
    SwitchOffRange range;
    range.largest_batch = schedule.largest_batch;
    for (std::size_t batch = schedule.gains.size(); batch >= 1; --batch) {
        const GainAt at{static_cast<double>(batch), schedule.gains[batch - 1], 1.0};
        const numerics::Verdict verdict = shares.chances({at}, minimum_gain, unmeasured).verdict;
        if (verdict == numerics::Verdict::pays) {
            break;
        }
        const auto number = static_cast<int>(batch);
        const bool lost_beyond = number == range.largest_batch || range.latest == number + 1;
        range.earliest = number;
        range.latest = verdict == numerics::Verdict::loses && lost_beyond ? number : range.latest;
    }
    return range;
}

/// The gain over the whole traffic, at the batches that it is served at: what errs there errs in all of it.
std::vector<GainAt> gain_over(const Traffic& settled, double gain) {
    std::vector<GainAt> gains;
    for (const TrafficPoint& point : settled.points) {
        gains.push_back({point.load, gain, point.share});
    }
    return gains;
}

/// One draw of everything that is uncertain.
struct World {
    std::vector<double> inputs;                ///< places within the ranges of uncertain_inputs(), 0 to 1
    std::map<std::string, double> acceptance;  ///< by drafter, its place in the interval of its acceptance, -1 to 1
    double measured_over_predicted = 1.0;      ///< of gains
};

World drawn(const Recommendation& recommendation, const std::vector<std::size_t>& variants,
            const MeasuredErrors::OfMode* errors, std::uint64_t number) {
    numerics::Random random(world_seed, number);
    World world;
    for (std::size_t i = 0; i < uncertain_input_count; ++i) {
        world.inputs.push_back(random.uniform());
    }
    for (const std::size_t variant : variants) {
        const std::string& drafter = recommendation.variants[variant].labels.drafter;
        world.acceptance.try_emplace(drafter, 2.0 * random.uniform() - 1.0);
    }
    if (errors != nullptr && !errors->speed_ups.empty()) {
        const sim::RoundSetup& setup = recommendation.variants[variants.front()].setup;
        const double batch = typical_point(recommendation.settled).load;
        world.measured_over_predicted =
            numerics::residual_quantile(errors->speed_ups, traits_of(setup, batch), random.uniform());
    }
    return world;
}

/// A configuration in a world.
struct Placed {
    std::size_t variant = 0;
    int speculation = 0;
    double objective = 0.0;
};

std::vector<Placed> candidates_in(const World& world, const Recommendation& recommendation, std::size_t index,
                                  const Workload& workload) {
    sim::RoundSetup setup = recommendation.variants[index].setup;
    const bool plain = recommendation.variants[index].plain();
    if (!plain) {
        setup.acceptance = setup.acceptance.moved(world.acceptance.at(recommendation.variants[index].labels.drafter));
    }
    sim::CompiledRound round = sim::compile_round(setup);
    move_inputs(setup.platform, world.inputs, round);
    std::vector<int> speculations = runnable(round);
    if (!plain) {
        std::erase(speculations, 0);
    }
    std::vector<Placed> placed;
    for (const int speculation : speculations) {
        const PlannedOutcome planned = planned_for(recommendation.variants[index], round, speculation, workload.traffic,
                                                   workload.objective, limits_for(recommendation, index));
        if (!planned.broken || *planned.broken == Limit::gain) {
            placed.push_back({index, speculation, planned.outcome.objective / (plain ? 1.0 : world.measured_over_predicted)});
        }
    }
    return placed;
}

std::string name_of_placed(const Recommendation& recommendation, const Placed& placed) {
    const Variant& variant = recommendation.variants[placed.variant];
    return variant.plain() ? "plain decoding"
                           : variant.labels.drafter + " with " +
                                 recommendation.speculations[static_cast<std::size_t>(placed.speculation)].label;
}

ChoiceWorlds choice_in_worlds(const Recommendation& recommendation, const Workload& workload,
                              const MeasuredErrors::OfMode* errors) {
    const Candidate& best = recommendation.candidates.front();
    std::vector<std::size_t> variants = {best.variant};
    for (const Candidate& rival : recommendation.runners_up) {
        if (variants.size() <= most_rivals) {
            variants.push_back(rival.variant);
        }
    }
    ChoiceWorlds choice;
    choice.worlds = choice_worlds;
    std::map<std::string, int> rivals;
    for (int i = 0; i < choice.worlds; ++i) {
        const World world = drawn(recommendation, variants, errors, static_cast<std::uint64_t>(i));
        std::vector<Placed> all;
        for (const std::size_t variant : variants) {
            const std::vector<Placed> of_variant = candidates_in(world, recommendation, variant, workload);
            all.insert(all.end(), of_variant.begin(), of_variant.end());
        }
        const auto chosen = std::find_if(all.begin(), all.end(), [&](const Placed& placed) {
            return placed.variant == best.variant && placed.speculation == best.speculation;
        });
        const auto winner = std::min_element(all.begin(), all.end(),
                                             [](const Placed& a, const Placed& b) { return a.objective < b.objective; });
        if (chosen == all.end()) {
            continue;  // a limit is in the way there
        }
        choice.best += winner == chosen ? 1 : 0;
        choice.near_best += chosen->objective <= winner->objective * (1.0 + choice.near_share) ? 1 : 0;
        if (winner != chosen) {
            ++rivals[name_of_placed(recommendation, *winner)];
        }
    }
    const auto most =
        std::max_element(rivals.begin(), rivals.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    choice.rival = most == rivals.end() ? "" : most->first;
    return choice;
}

}  // namespace

std::optional<MeasuredGain> measured_gain(const sim::RoundSetup& setup, const Traffic& settled, double gain,
                                          const MeasuredErrors& errors, const UnmeasuredFactors& unmeasured) {
    if (!knows_errors(setup, errors)) {
        return std::nullopt;
    }
    MeasuredGain measured;
    double low = 1.0, high = 1.0;
    if (const std::optional<double> own = own_gain_error(setup)) {
        measured.own_deployment = true;
        low = 1.0 / (1.0 + *own);
        high = 1.0 + *own;
    } else {
        const MeasuredErrors::OfMode& of_mode = *errors.of(setup.platform.mode);
        measured.of_engine = cases_of_engine(of_mode.speed_ups, setup);
        LevelIntervals gains(of_mode.speed_ups, setup);
        std::tie(low, high) = over(settled, gains);
        measured.cases = gains.at(1.0).cases;
        measured.sources = gains.at(1.0).sources;
    }
    measured.engine_low = low * gain;
    measured.engine_high = high * gain;
    // Of the distances from 1, whichever way they go.
    const auto both = [](double a, double b) { return std::exp(numerics::root_of_squares(std::log(a), std::log(b))); };
    measured.low = low < 1.0 ? gain / both(low, unmeasured.low) : gain * low * unmeasured.low;
    measured.high = high > 1.0 ? gain * both(high, unmeasured.high) : gain * high * unmeasured.high;
    return measured;
}

std::optional<MeasuredTime> measured_time(const sim::RoundSetup& setup, const Traffic& settled, const MeasuredErrors& errors) {
    if (setup.platform.accelerator) {
        return std::nullopt;
    }
    MeasuredTime measured;
    if (const std::optional<double> own = own_time_error(setup)) {
        measured.own_deployment = true;
        measured.low = 1.0 / (1.0 + *own);
        measured.high = 1.0 + *own;
        return measured;
    }
    const MeasuredErrors::OfMode* of_mode = errors.of(setup.platform.mode);
    measured.of_engine = of_mode == nullptr ? 0 : cases_of_engine(of_mode->times, setup);
    if (measured.of_engine == 0) {
        return std::nullopt;
    }
    LevelIntervals times(of_mode->times, setup);
    std::tie(measured.low, measured.high) = over(settled, times);
    measured.cases = times.at(1.0).cases;
    measured.sources = times.at(1.0).sources;
    return measured;
}

Trust trust_of(const Recommendation& recommendation, const Workload& workload, const GainInterval& interval,
               const MeasuredErrors& errors) {
    const Candidate& best = recommendation.candidates.front();
    const sim::RoundSetup& setup = recommendation.variants[best.variant].setup;
    const bool own = own_gain_error(setup).has_value();
    const MeasuredErrors::OfMode* of_mode = own ? nullptr : errors.of(setup.platform.mode);
    Trust trust;
    const UnmeasuredFactors unmeasured = unmeasured_factors(interval);
    trust.measured = measured_gain(setup, recommendation.settled, interval.value, errors, unmeasured);
    trust.plain = measured_time(setup, recommendation.settled, errors);
    trust.other_mode = other_mode(setup, best.plan, workload);
    if (trust.other_mode) {
        trust.other_mode->gain *= interval.beside;
        const double low = trust.measured ? trust.measured->low : interval.low;
        const double high = trust.measured ? trust.measured->high : interval.high;
        trust.other_mode->inside = low <= trust.other_mode->gain && trust.other_mode->gain <= high;
    }
    if (trust.measured) {
        trust.chances = chances_of(setup, gain_over(recommendation.settled, interval.value), workload.limits.minimum_gain,
                                   errors, unmeasured);
        trust.switch_off = switch_off_range(recommendation.schedule, setup, workload.limits.minimum_gain, errors, unmeasured);
    }
    if (!setup.platform.accelerator) {
        trust.choice = choice_in_worlds(recommendation, workload, trust.measured ? of_mode : nullptr);
    }
    return trust;
}

std::optional<RejectedDrafting> rejected_drafting(const Recommendation& recommendation, const Workload& workload,
                                                  const MeasuredErrors& errors) {
    // As the recommendation was made: an overloaded server's is about one that is always full.
    const Traffic& traffic = recommendation.traffic;
    const Objective objective = recommendation.objective;
    std::optional<RejectedDrafting> best;
    std::tuple<bool, bool, double> best_rank;
    Placed place;
    DraftPlan plan = 0;
    for (std::size_t i = 0; i < recommendation.variants.size(); ++i) {
        const Variant& variant = recommendation.variants[i];
        const Prepared prepared = variant.plain() || variant.untrained ? Prepared{} : prepare(variant, workload);
        if (!prepared.problem.empty()) {
            continue;
        }
        const Limits limits = limits_for(recommendation, i);
        for (const int speculation : prepared.speculations) {
            const PlannedOutcome planned = planned_for(variant, prepared.round, speculation, traffic, objective, limits);
            const Outcome& outcome = planned.outcome;
            const std::optional<Limit> broken = limit_of(outcome, prepared, limits);
            // Over the best plain decoding, whatever its cut.
            const bool served = outcome.problem.empty() && !recommendation.plain.overrun;
            const double gain =
                outcome.gain_of_capacity && !served ? outcome.gain : recommendation.plain.objective / outcome.objective;
            const bool allowed = !broken || *broken == Limit::gain;
            const auto rank = std::tuple(gain >= 1.0, allowed, gain);
            if (!best || rank > best_rank) {
                best_rank = rank;
                place = {i, speculation, outcome.objective};
                plan = planned.plan;
                best = RejectedDrafting{"",
                                        gain,
                                        {},
                                        allowed ? std::nullopt : broken,
                                        outcome.waiting,
                                        first_token_growth_of(prepared, outcome, limits),
                                        first_token_of(prepared, outcome),
                                        std::nullopt,
                                        gain};
                if (!plan.by_point.empty()) {
                    const Outcome everywhere = outcomes_of(prepared.round, {speculation}, traffic, objective).front();
                    best->off_for = limit_of(everywhere, prepared, limits);
                    best->gain_everywhere = recommendation.plain.objective / everywhere.objective;
                }
            }
        }
    }
    if (best) {
        const sim::RoundSetup& setup = recommendation.variants[place.variant].setup;
        best->label = name_of_placed(recommendation, place);
        const UnmeasuredFactors unmeasured = unmeasured_factors(gain_interval(setup, plan, traffic, objective));
        const Traffic settled = settled_on(sim::compile_round(setup), plan, traffic);
        best->chances = chances_of(setup, gain_over(settled, best->gain), 1.0, errors, unmeasured);
    }
    return best;
}

}  // namespace treeline::sweeps
