// What planned runs leave of a gain's uncertainty, against geometry: gains and results of runs are linear in unknowns of
// variance 1, so a set of runs leaves the part of the gain's vector that stands at right angles to those of the runs.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "recommend_workloads.h"
#include "sweeps/measurement_plan.h"
#include "sweeps/uncertainty.h"

namespace measurement_oracle_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

using Vector = std::vector<double>;

/// Points of a normal variable's 80 % interval lie so many deviations from its middle.
constexpr double to_end = 1.2816;

double dot(const Vector& a, const Vector& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

void take_away(Vector& from, const Vector& direction) {
    const double part = dot(from, direction);
    for (std::size_t i = 0; i < from.size(); ++i) {
        from[i] -= part * direction[i];
    }
}

/// A possible run, and what it sees.
struct Seen {
    CandidateRun run;
    Vector vector;
};

/// The plan's question, written down once more: one chain of three drafts over a quarter of the traffic at batch 1 and 1,000
/// tokens, and three quarters at batch 32 and 2,000 (1,750 in the mean). Unknown are the inputs, then of all steps (8 %), of
/// all rounds (12 %), of steps at either batch (4 %), of rounds at either batch (11 %); behind them stand the errors of the
/// runs.
struct Geometry {
    Workload workload;
    Recommendation found;
    std::vector<UncertainRound> inputs;
    Vector gain;
    std::vector<Seen> seen;

    double error;

    explicit Geometry(double rate, double error_of_runs = 0.02, const sim::Platform& where = platform("h100-sxm", "cuda-graph"))
        : error(error_of_runs) {
        const auto chains = sim::chains_up_to(3);
        workload.variants = {variant("draft", pair_setup("llama-3-8b", "llama-3.2-1b", where))};
        sim::RoundSetup& setup = workload.variants.front().setup;
        workload.speculations = setup.speculations = {chains[0], chains[3]};
        setup.acceptance = sim::Acceptance::geometric(rate);
        setup.prompt_tokens = 500.0;
        setup.output_tokens = 200.0;
        workload.traffic.points = {{1, 1000, 0.25}, {32, 2000, 0.75}};
        found = *best_drafting(workload);
        inputs = uncertain_rounds(setup);
        const sim::CompiledRound round = sim::compile_round(setup);
        see_gain(round);
        for (const double batch : {1.0, 32.0}) {
            see_times(round, batch);
        }
        Vector lengths = inputs_by([](const sim::CompiledRound& of) { return std::log(of.row(1).accept_length()); });
        seen.push_back({{true, 3, 1.0, 1750.0}, lengths});
        for (std::size_t k = 0; k < seen.size(); ++k) {
            seen[k].vector.resize(gain.size(), 0.0);
            seen[k].vector[inputs.size() + 6 + k] = error;
        }
    }

    template <class Figure>
    Vector inputs_by(Figure figure) const {
        Vector slopes;
        for (const UncertainRound& input : inputs) {
            slopes.push_back((figure(input.high) - figure(input.low)) / 2.0 / to_end);
        }
        return slopes;
    }
    void see_gain(const sim::CompiledRound& round) {
        const auto figure = [&](const sim::CompiledRound& of) {
            return outcomes_of(of, {1}, workload.traffic, workload.objective).front().gain;
        };
        gain = inputs_by(figure);
        const double g = figure(round);
        for (const double left : {0.0, 0.12, 0.0, 0.0, 0.11 * 0.25, 0.11 * 0.75}) {
            gain.push_back(-left * g);
        }
        gain.resize(gain.size() + 5, 0.0);
    }
    void see_times(const sim::CompiledRound& round, double batch) {
        const bool first = batch == 1.0;
        const auto step = [&](const sim::CompiledRound& of) {
            return sim::evaluate(of, {0, batch, 1750.0}).autoregressive.value();
        };
        const auto drafting = [&](const sim::CompiledRound& of) {
            const sim::RoundEstimate estimate = sim::evaluate(of, {1, batch, 1750.0});
            return (estimate.round - estimate.prompts).value();
        };
        Vector of_step = inputs_by([&](const sim::CompiledRound& of) { return std::log(step(of)); });
        Vector of_round = inputs_by([&](const sim::CompiledRound& of) { return std::log(drafting(of)); });
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            of_round[i] = inputs[i].of_acceptance ? 0.0 : of_round[i];
        }
        of_step.insert(of_step.end(), {0.08, 0.0, first ? 0.04 : 0.0, first ? 0.0 : 0.04, 0.0, 0.0});
        of_round.insert(of_round.end(),
                        {0.08, 0.12, first ? 0.04 : 0.0, first ? 0.0 : 0.04, first ? 0.11 : 0.0, first ? 0.0 : 0.11});
        seen.push_back({{false, 0, batch, 1750.0, step(round)}, of_step});
        seen.push_back({{false, 3, batch, 1750.0, drafting(round)}, of_round});
    }

    /// The deviation of what a vector stands for after these runs.
    [[nodiscard]] double left_of(Vector what, const std::vector<std::size_t>& runs) const {
        std::vector<Vector> directions;
        for (const std::size_t run : runs) {
            Vector direction = seen[run].vector;
            for (const Vector& before : directions) {
                take_away(direction, before);
            }
            const double length = std::sqrt(dot(direction, direction));
            std::for_each(direction.begin(), direction.end(), [&](double& each) { each /= length; });
            take_away(what, direction);
            directions.push_back(direction);
        }
        return std::sqrt(dot(what, what));
    }
    [[nodiscard]] Vector unknown(std::size_t at) const {
        Vector vector(gain.size(), 0.0);
        vector[at] = 1.0;
        return vector;
    }
    [[nodiscard]] std::size_t index_of(const CandidateRun& run) const {
        const auto same = [&](const Seen& each) {
            return each.run.of_acceptance == run.of_acceptance && each.run.draft_tokens == run.draft_tokens &&
                   each.run.batch == run.batch;
        };
        return static_cast<std::size_t>(std::find_if(seen.begin(), seen.end(), same) - seen.begin());
    }
    /// The least that `size` runs leave of the gain.
    [[nodiscard]] double least_of(std::size_t size) const {
        double least = left_of(gain, {});
        for (unsigned set = 0; set < 1U << seen.size(); ++set) {
            std::vector<std::size_t> runs;
            for (std::size_t i = 0; i < seen.size(); ++i) {
                if ((set >> i & 1U) != 0) {
                    runs.push_back(i);
                }
            }
            least = runs.size() == size ? std::min(least, left_of(gain, runs)) : least;
        }
        return least;
    }
    [[nodiscard]] MeasurementPlan plan(int most) const { return plan_measurements(found, workload, most, error); }
};

double deviation(double low, double high) { return (high - low) / 2.0 / to_end; }

}  // namespace

TEST_CASE("runs leave of a gain what stands at right angles to all that they see") {
    const Geometry by(0.8);
    const MeasurementPlan plan = by.plan(4);
    CHECK(deviation(plan.low, plan.high) == Approx(by.left_of(by.gain, {})).epsilon(1e-9));
    CHECK(plan.low + plan.high == Approx(2.0 * plan.gain).epsilon(1e-12));
    REQUIRE(plan.runs.size() >= 2);
    std::vector<std::size_t> made;
    for (const PlannedRun& planned : plan.runs) {
        const std::size_t at = by.index_of(planned.run);
        REQUIRE(at < by.seen.size());
        CHECK(planned.run.seconds_predicted == Approx(by.seen[at].run.seconds_predicted).epsilon(1e-12));
        CHECK(planned.run.context == 1750.0);
        made.push_back(at);
        CHECK(deviation(planned.low, planned.high) == Approx(by.left_of(by.gain, made)).epsilon(1e-9));
        CHECK(planned.low + planned.high == Approx(2.0 * plan.gain).epsilon(1e-12));
    }
}

TEST_CASE("of all sets of runs the smallest is planned that leaves hardly more than the best one, its most telling run first") {
    const Geometry by(0.8);
    for (const int most : {1, 2, 3, 4, 5}) {
        CAPTURE(most);
        const MeasurementPlan plan = by.plan(most);
        const double before = by.left_of(by.gain, {}), least = by.least_of(static_cast<std::size_t>(std::min(most, 4)));
        std::size_t size = 0;
        while (by.least_of(size) > least + 0.01 * before) {
            ++size;
        }
        REQUIRE(plan.runs.size() == size);
        std::vector<std::size_t> made, open;
        for (const PlannedRun& run : plan.runs) {
            open.push_back(by.index_of(run.run));
        }
        CHECK(by.left_of(by.gain, open) == Approx(by.least_of(size)).epsilon(1e-9));
        for (; !open.empty(); open.erase(open.begin())) {
            made.push_back(open.front());
            for (const std::size_t other : open) {
                std::vector<std::size_t> instead = made;
                instead.back() = other;
                CHECK(by.left_of(by.gain, made) <= by.left_of(by.gain, instead) + 1e-12);
            }
        }
    }
}

TEST_CASE(
    "a run settles inputs of which it leaves less than half the deviation, and rounds of which it leaves half the variance") {
    // Where kernels are launched one by one, slowly, a step tells from the host's time what a round took longer.
    sim::Platform slow_host = platform("h100-sxm", "eager");
    slow_host.stack.launching.host_launch *= 3.0;
    std::size_t inputs = 0, rounds = 0;
    // Where links take nearly all of the time, which is no uncertain input, only what the model leaves moves a step.
    sim::Platform slow_links = platform("h100-sxm", "cuda-graph", 4.0);
    for (sim::Interconnect& link : slow_links.device.interconnects) {
        link.latency *= 1000.0;
    }
    for (const sim::Platform& where : {platform("h100-sxm", "cuda-graph"), slow_host, slow_links}) {
        for (const double error : {0.003, 0.05, 0.15}) {
            const Geometry by(0.8, error, where);
            std::vector<std::size_t> made;
            for (const PlannedRun& planned : by.plan(4).runs) {
                std::vector<std::string> names;
                const std::vector<std::size_t> before = made;
                made.push_back(by.index_of(planned.run));
                for (std::size_t i = 0; i < by.inputs.size(); ++i) {
                    const double was = by.left_of(by.unknown(i), before), is = by.left_of(by.unknown(i), made);
                    if (is < 0.5 * was && was * was > 0.05) {
                        names.push_back(by.inputs[i].input);
                        ++inputs;
                    }
                }
                const Vector of_rounds = by.unknown(by.inputs.size() + 1);
                if (std::pow(by.left_of(of_rounds, made), 2) < 0.5 * std::pow(by.left_of(of_rounds, before), 2)) {
                    names.emplace_back("what the model leaves of rounds");
                    ++rounds;
                }
                CHECK(planned.settles == names);
            }
        }
    }
    CHECK(inputs > 0);
    CHECK(rounds > 0);
}

TEST_CASE(
    "runs are worth what the better of drafting and not would gain over the one chosen now, as far as they tell them apart") {
    // The gain that will be believed is normal around g with the deviation s that the runs take away; the better of it and 1
    // gains g·P(d) + s·p(d) + 1 − P(d), d = (g − 1)/s.
    for (const double rate : {0.45, 0.55}) {
        const Geometry by(rate);
        const MeasurementPlan plan = by.plan(4);
        const double g = plan.gain, before = deviation(plan.low, plan.high);
        const auto worth = [&](double left) {
            const double s = std::sqrt(before * before - left * left), d = (g - 1.0) / s;
            const double below = 0.5 * std::erfc(-d / std::sqrt(2.0));
            const double density = std::exp(-d * d / 2.0) / std::sqrt(2.0 * std::acos(-1.0));
            return (g * below + s * density + 1.0 - below) / std::max(1.0, g) - 1.0;
        };
        CAPTURE(rate, g);
        CHECK(plan.perfect == Approx(worth(0.0)).epsilon(0.05).margin(0.002));
        for (const PlannedRun& run : plan.runs) {
            CHECK(run.value == Approx(worth(deviation(run.low, run.high))).epsilon(0.05).margin(0.002));
        }
    }
}

}  // namespace measurement_oracle_test
