// What ranks a cause that a diagnosis finds beyond the prediction, what could stand in its place, and edges of what is said of
// it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "faulty_rounds.h"
#include "setups.h"
#include "sweeps/diagnosis.h"
#include "sweeps/diagnosis_causes.h"
#include "text/number_text.h"

namespace diagnosis_ranks_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

/// Of the round in focus, what it takes longer than expected.
double excess_of(const Diagnosis& found) {
    const DiagnosedLoad& focus = found.loads[found.focus];
    return (focus.measured - focus.expected) / focus.measured;
}

bool is_instead(const Cause& cause, CauseKind other) {
    return cause.evidence.find("In its place \"" + std::string(name_of(other)) + "\"") != std::string::npos;
}

}  // namespace

TEST_CASE("a cause ranks by the excess and by how plausible it is: three quarters where its size is not known") {
    const Diagnosis found =
        diagnose(faulty(small_pair(), {1, 8, 32}, {0, 1, 3, 5}, [](double, int) { return 0.1 * small_step(); }));
    const Cause* fixed = cause_of(found, CauseKind::host_per_round);
    REQUIRE(fixed != nullptr);
    CHECK_FALSE(fixed->together);
    CHECK(fixed->rank == Approx(excess_of(found) * 0.75));
}

TEST_CASE("of two causes together the larger comes first: each ranks 5 % of its share of a round higher") {
    const Diagnosis found = diagnose(
        faulty(small_pair(), {1, 8, 32}, {0, 1, 3, 5}, [](double batch, int) { return (0.15 + 0.02 * batch) * small_step(); }));
    for (const CauseKind kind : {CauseKind::host_per_round, CauseKind::host_per_sequence}) {
        const Cause* cause = cause_of(found, kind);
        REQUIRE(cause != nullptr);
        CHECK(cause->together);
        CHECK(cause->rank == Approx(excess_of(found) * 0.75 * (0.95 + 0.05 * cause->share)));
    }
}

TEST_CASE("two causes are those that fit best, and what fits nearly as well in the place of one is named there alone") {
    // Drafts of 4 and 5 tokens: tokens of a batch grow with it within a ninth as its sequences do.
    const Diagnosis found = diagnose(
        faulty(small_pair(), {1, 8, 32}, {0, 4, 5}, [](double batch, int) { return (0.3 + 0.05 * batch) * small_step(); }));
    const Cause* fixed = cause_of(found, CauseKind::host_per_round);
    const Cause* per_sequence = cause_of(found, CauseKind::host_per_sequence);
    REQUIRE(fixed != nullptr);
    REQUIRE(per_sequence != nullptr);
    CHECK(cause_of(found, CauseKind::rows_cost_more) == nullptr);
    CHECK(is_instead(*per_sequence, CauseKind::rows_cost_more));
    CHECK_FALSE(is_instead(*fixed, CauseKind::rows_cost_more));
    CHECK_FALSE(is_instead(*fixed, CauseKind::host_per_round));
    CHECK_FALSE(is_instead(*per_sequence, CauseKind::host_per_sequence));
}

TEST_CASE("a cause of a known size is the less plausible the more its size is missed: by 15 % for each factor of two") {
    const sim::CompiledRound round = sim::compile_round(small_pair());
    const double pass = diagnosis::launched_one_by_one(round.pass(sim::PassId::draft), small_pair().platform).value();
    // What the drafter's passes take longer if their kernels are launched one by one.
    const auto one_by_one = [&](double batch, int length) {
        return length * pass - sim::evaluate(round, {length, batch, 1000.0}).draft.value();
    };
    for (const auto& [factor, plausible] : {std::pair{0.5, 0.85}, {1.0, 1.0}, {2.0, 0.85}}) {
        const Diagnosis found = diagnose(faulty(small_pair(), {1, 8, 32}, {0, 1, 3, 5},
                                                [&](double batch, int length) { return factor * one_by_one(batch, length); }));
        const Cause* cause = cause_of(found, CauseKind::drafter_not_captured);
        REQUIRE(cause != nullptr);
        CHECK(cause->rank == Approx(excess_of(found) * plausible));
    }
    // Beside a host that takes time for each sequence, both are told.
    const Diagnosis both = diagnose(faulty(small_pair(), {1, 8, 32}, {0, 1, 3, 5}, [&](double batch, int length) {
        return one_by_one(batch, length) + 0.05 * batch * small_step();
    }));
    for (const CauseKind kind : {CauseKind::drafter_not_captured, CauseKind::host_per_sequence}) {
        const Cause* cause = cause_of(both, kind);
        REQUIRE(cause != nullptr);
        CHECK(cause->together);
        CHECK(cause->rank == Approx(excess_of(both) * (0.5 * 1.0 + 0.5 * 0.75) * (0.95 + 0.05 * cause->share)));
    }
}

TEST_CASE("a second cause is not blamed where it mends little of what the first leaves") {
    // A fixed time that scatters by a quarter, a little of it with each pass: passes mend less than 60 % of the rest.
    int load = 0;
    const Diagnosis found = diagnose(faulty(small_pair(), {1, 8, 32}, {0, 1, 3, 5}, [&](double, int length) {
        return (2.0 + 0.2 * length) * (++load % 2 == 0 ? 0.75 : 1.25) * small_step();
    }));
    REQUIRE(cause_of(found, CauseKind::host_per_round) != nullptr);
    CHECK(std::none_of(found.causes.begin(), found.causes.end(), [](const Cause& cause) { return cause.together; }));
}

TEST_CASE("of two pairs of causes the one is told that explains more exactly and is as plausible") {
    // A time of each pass and of each sequence, exactly. Kernels of the drafter that are launched one by one (0.45 times), with
    // the sequences, explain 99.46 %: (1 - sqrt(0.0054)) * (0.83 + 0.75)/2 = 0.73 where the exact pair has 0.75.
    const Diagnosis found = diagnose(faulty(small_pair(), {1, 64, 128}, {0, 1, 3, 5}, [](double batch, int length) {
        return (0.3 * length + 0.005 * batch) * small_step();
    }));
    REQUIRE(cause_of(found, CauseKind::draft_passes) != nullptr);
    CHECK(cause_of(found, CauseKind::draft_passes)->together);
    CHECK(is_instead(*cause_of(found, CauseKind::draft_passes), CauseKind::drafter_not_captured));
    CHECK(cause_of(found, CauseKind::drafter_not_captured) == nullptr);
}

TEST_CASE("four loads tell two causes apart, and three do not") {
    const auto of_lengths = [](const std::vector<int>& lengths) {
        const Diagnosis found = diagnose(
            faulty(small_pair(), {1, 32}, lengths, [](double batch, int) { return (0.15 + 0.02 * batch) * small_step(); }));
        return std::count_if(found.causes.begin(), found.causes.end(), [](const Cause& cause) { return cause.together; });
    };
    CHECK(of_lengths({0, 1, 5}) == 2);
    CHECK(of_lengths({0, 5}) == 0);
}

TEST_CASE("a cause ranks by the square of what it explains of all loads") {
    const Diagnosis found = diagnose(
        faulty(small_pair(), {1, 8, 32}, {0, 3}, [](double batch, int) { return (batch == 8.0 ? 1.4 : 1.0) * small_step(); }));
    // One time for all loads, by least squares of the errors over the rounds.
    double once = 0.0, weights = 0.0, all = 0.0, left = 0.0;
    const auto sum = [&](auto add) {
        for (const DiagnosedLoad& load : found.loads) {
            add((load.measured - load.expected).value(), 1.0 / std::pow(load.measured.value(), 2));
        }
    };
    sum([&](double excess, double weight) {
        once += weight * excess;
        weights += weight;
    });
    sum([&](double excess, double weight) {
        all += weight * excess * excess;
        left += weight * std::pow(excess - once / weights, 2);
    });
    const Cause* fixed = cause_of(found, CauseKind::host_per_round);
    REQUIRE(fixed != nullptr);
    REQUIRE(left / all > 0.01);
    CHECK(fixed->rank == Approx(excess_of(found) * std::pow(1.0 - left / all, 2) * 0.75));
    CHECK(fixed->share == Approx(once / weights / found.loads[found.focus].measured.value()));
}

TEST_CASE("what a cause takes of a round is no more than the round") {
    // Rounds of 2 and 5 s: of one time for both, 0.5/0.29 = 1.72 * 2 s, hardly less what is expected of them.
    DiagnosisInput input = faulty(small_pair(), {8}, {0, 1, 3}, [](double, int) { return 0.0; });
    for (std::size_t i = 0; i < 2; ++i) {
        input.rounds[i].cell.round = runs::MeasuredMean::of(i == 0 ? 2.0 : 5.0, 0.0, 1.0, 1.0);
        input.rounds[i].cell.stated_length = i == 0 ? 1.0 : 4.0;
    }
    const Diagnosis found = diagnose(input);
    REQUIRE(found.focus == 0);
    REQUIRE(cause_of(found, CauseKind::host_per_round) != nullptr);
    CHECK(cause_of(found, CauseKind::host_per_round)->share == 1.0);
}

TEST_CASE("a cause is told with its size here, and with what of the loads it explains") {
    const auto per_sequence = [](double batch, int) { return 0.05 * batch * small_step(); };
    const Diagnosis three = diagnose(faulty(small_pair(), {1, 8, 32}, {0, 1, 3}, per_sequence));
    const Cause* const grows = cause_of(three, CauseKind::host_per_sequence);
    REQUIRE(grows != nullptr);
    CHECK_THAT(grows->evidence,
               Catch::Contains("An extra " + text_of(Seconds(0.05 * small_step())) +
                               " for each sequence of the batch explains 100 % of what 6 loads take too long (" +
                               text_of(Seconds(0.05 * three.loads[three.focus].cell.batch * small_step())) + " here)."));
    const Diagnosis one = diagnose(faulty(small_pair(), {8}, {0, 3}, [](double, int) { return small_step(); }));
    const Cause* const fixed = cause_of(one, CauseKind::host_per_round);
    REQUIRE(fixed != nullptr);
    CHECK_THAT(fixed->evidence, Catch::Contains("for each round explains 100 % of what the load takes too long"));
}

TEST_CASE("graphs that the log lacks are not suspected a second time, and all else is") {
    DiagnosisInput input =
        faulty(small_pair(), {1, 8, 32}, {0, 1, 3, 5}, [](double batch, int) { return (0.2 + 0.05 * batch) * small_step(); });
    const auto suspected_graphs = [&](const Diagnosis& found) {
        return std::count_if(found.causes.begin(), found.causes.end(), [](const Cause& cause) {
            return cause.kind == CauseKind::rounds_not_captured && cause.is_pattern;
        });
    };
    input.settings.graphs = runs::GraphMode::none;
    const Diagnosis logged = diagnose(input);
    CHECK(logged.causes.front().kind == CauseKind::rounds_not_captured);
    CHECK(suspected_graphs(logged) == 0);
    CHECK(cause_of(logged, CauseKind::host_per_sequence) != nullptr);
    // An excess that nothing explains is said to be so, whatever else was found before it.
    DiagnosisInput odd =
        faulty(small_pair(), {1, 4, 8, 16}, {0, 3}, [](double batch, int) { return batch == 1.0 ? 4.0 * small_step() : 0.0; });
    odd.accepted = {accepted(1.0, 3, 2.0, 1000.0), accepted(1.0, 3, 1.4, 8000.0)};
    const Diagnosis beside = diagnose(odd);
    CHECK(cause_of(beside, CauseKind::long_contexts) != nullptr);
    CHECK(cause_of(beside, CauseKind::unexplained) != nullptr);
}

TEST_CASE("what an engine measured of drafting is said of no cause but graphs of the drafter") {
    DiagnosisInput input = faulty(small_pair(), {1, 8, 32}, {0, 1, 3, 5}, [](double, int) { return 0.1 * small_step(); });
    for (DiagnosedPoint& point : input.rounds) {
        point.cell.drafting.add(0.001);
    }
    const Diagnosis found = diagnose(input);
    const Cause* fixed = cause_of(found, CauseKind::host_per_round);
    REQUIRE(fixed != nullptr);
    CHECK_THAT(fixed->evidence, !Catch::Contains("The engine measured"));
}

TEST_CASE("where no plain step was measured, none is interpolated") {
    DiagnosisInput input = faulty(small_pair(), {8}, {0, 3}, [](double, int) { return 0.0; });
    CHECK_FALSE(diagnose(input).loads.front().plain_interpolated);
    input.plain.front().cell.batch = 16.0;
    CHECK(diagnose(input).loads.front().plain_interpolated);
    input.plain.clear();
    CHECK_FALSE(diagnose(input).loads.front().plain_interpolated);
}

TEST_CASE("rounds of one token each, of which no draft was ever accepted, are a defect") {
    DiagnosisInput input = faulty(small_pair(), {1}, {0, 3}, [](double, int) { return 0.0; });
    runs::RunCell cell;
    cell.batch = 1.0;
    cell.draft_tokens = 3;
    cell.stated_length = 1.0;
    input.accepted = {cell};
    CHECK(cause_of(diagnose(input), CauseKind::defect) != nullptr);
}

TEST_CASE("a drafter that leaves room for 97 of 100 requests takes none that is worth naming") {
    sim::RoundSetup heads = small_pair();
    heads.drafter = sim::MedusaDrafter{};
    const double context = 13'500.0;  // of whose caches the heads take the room of nearly three
    const auto just_fit = [&](const sim::CompiledRound& round, int speculation, double batch) {
        return sim::evaluate(round, {speculation, batch, context}).fits &&
               !sim::evaluate(round, {speculation, batch + 1.0, context}).fits;
    };
    bool found = false;
    for (double memory = 190e9; memory < 202e9 && !found; memory += 0.25e9) {
        heads.platform.device.memory = Bytes(memory);
        const sim::CompiledRound round = sim::compile_round(heads);
        found = just_fit(round, 0, 100.0) && just_fit(round, 3, 97.0);
    }
    REQUIRE(found);
    DiagnosisInput input;
    DiagnosedPoint point{{}, heads, {3, 98.0, context}};
    point.cell.batch = 98.0;
    point.cell.context = context;
    point.cell.draft_tokens = 3;
    const sim::RoundEstimate e = sim::evaluate(sim::compile_round(heads), point.point);
    point.cell.stated_length = e.accept_length;
    point.cell.round.add(e.round.value());
    input.rounds = {point};
    CHECK(cause_of(diagnose(input), CauseKind::cache_lost) == nullptr);
}

}  // namespace diagnosis_ranks_test
