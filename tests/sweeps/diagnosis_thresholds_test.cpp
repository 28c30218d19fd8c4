// What a diagnosis says of rounds that are slow at some loads and as expected at all others.
#include <algorithm>

#include <catch2/catch.hpp>

#include "faulty_rounds.h"
#include "setups.h"
#include "sweeps/diagnosis.h"
#include "sweeps/diagnosis_causes.h"
#include "sweeps/diagnosis_hypotheses.h"
#include "text/number_text.h"

namespace diagnosis_thresholds_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

/// Rounds of three drafts over some batches.
template <class Fault>
Diagnosis found_in(const std::vector<double>& batches, Fault fault) {
    return diagnose(faulty(small_pair(), batches, {0, 3}, fault));
}

bool despairs(const Diagnosis& diagnosis) {
    return std::any_of(diagnosis.causes.begin(), diagnosis.causes.end(), [](const Cause& cause) {
        return cause.what_to_try().find("no better drafter helps") != std::string::npos;
    });
}

}  // namespace

TEST_CASE("rounds that are slow from a size on are told by that size") {
    const Diagnosis found =
        found_in({1, 4, 8, 16, 32}, [](double batch, int) { return batch < 16.0 ? 0.0 : 6.0 * small_step(); });
    CHECK(likeliest(found) == std::vector<CauseKind>{CauseKind::from_a_size_on});
    const Cause* const cause = cause_of(found, CauseKind::from_a_size_on);
    REQUIRE(cause != nullptr);
    CHECK(cause->evidence.find("An extra " + text_of(Seconds(6.0 * small_step())) +
                               " for each round of 64 verified tokens and more") != std::string::npos);
    CHECK(cause->share == Approx(6.0 * small_step() / found.loads[found.focus].measured.value()));
    // The slow rounds lose with any drafter as they are, and win as they should be.
    REQUIRE(cause_of(found, CauseKind::ceiling) != nullptr);
    CHECK_FALSE(despairs(found));
}

TEST_CASE("no size is named where all rounds are slow, or where one of two rounds of a size is") {
    const Diagnosis all = found_in({1, 4, 8, 16, 32}, [](double, int) { return 6.0 * small_step(); });
    CHECK(cause_of(all, CauseKind::from_a_size_on) == nullptr);
    CHECK(cause_of(all, CauseKind::host_per_round) != nullptr);
    // Of the rounds of 16 verified tokens those of four sequences are fast, and those of eight are slow.
    const auto slow_from_eight = [](double batch, int) { return batch < 8.0 ? 0.0 : 6.0 * small_step(); };
    const Diagnosis both = diagnose(faulty(small_pair(), {4, 8, 16}, {0, 1, 3}, slow_from_eight));
    for (const diagnosis::Hypothesis& each : diagnosis::hypotheses_of(both)) {
        CHECK(each.kind != CauseKind::from_a_size_on);
    }
}

TEST_CASE("verifications that run without graphs from a size on are told by what their launches take, that size included") {
    const sim::CompiledRound round = sim::compile_round(small_pair());
    const Seconds launches = diagnosis::launched_one_by_one(round.pass(sim::PassId::verify_unrolled), small_pair().platform);
    const Diagnosis found = found_in({1, 4, 8, 16, 32}, [&](double batch, int length) {
        const Seconds longer = launches - sim::evaluate(round, {length, batch, 1000.0}).verify;
        return batch < 16.0 ? 0.0 : longer.value();
    });
    const Cause* const cause = cause_of(found, CauseKind::rounds_not_captured);
    REQUIRE(cause != nullptr);
    CHECK_THAT(cause->evidence, Catch::Contains("1.0 times which explains 100 % of what 5 loads take too long"));
    CHECK(likeliest(found).front() == CauseKind::rounds_not_captured);
}

TEST_CASE("a growth is no step, and two loads tell no step from a growth") {
    const Diagnosis growth = found_in({1, 4, 8, 16, 32}, [](double batch, int) { return 0.02 * batch * small_step(); });
    CHECK(likeliest(growth).front() == CauseKind::rows_cost_more);
    CHECK(cause_of(growth, CauseKind::from_a_size_on) == nullptr);
    const Diagnosis two = found_in({1, 16}, [](double batch, int) { return batch < 16.0 ? 0.0 : 6.0 * small_step(); });
    CHECK(cause_of(two, CauseKind::from_a_size_on) == nullptr);
    CHECK_FALSE(despairs(two));
}

TEST_CASE("an excess that no cause explains is called so, and no drafter is blamed for it") {
    const Diagnosis found = found_in({1, 4, 8, 16}, [](double batch, int) { return batch == 1.0 ? 4.0 * small_step() : 0.0; });
    REQUIRE(!found.causes.empty());
    CHECK(likeliest(found) == std::vector<CauseKind>{CauseKind::unexplained});
    CHECK(found.causes.front().share == Approx(4.0 * small_step() / found.loads[found.focus].measured.value()));
    CHECK_FALSE(despairs(found));
    const Diagnosis none = found_in({1, 4, 8, 16}, [](double, int) { return 0.0; });
    CHECK(cause_of(none, CauseKind::unexplained) == nullptr);
}

TEST_CASE("rounds that would lose as expected, too, are hopeless whatever they take beyond it") {
    // Twice as long a round that loses at best already: its excess is explained, and no remedy of it helps.
    DiagnosisInput input = faulty(small_pair(), {256}, {0, 1}, [](double, int) { return 0.0; });
    input.plain[0].cell.round = runs::MeasuredMean::of(0.3 * input.plain[0].cell.round.mean(), 0.0, 1.0, 1.0);
    input.rounds[0].cell.round = runs::MeasuredMean::of(2.0 * input.rounds[0].cell.round.mean(), 0.0, 1.0, 1.0);
    const Diagnosis found = diagnose(input);
    const DiagnosedLoad& load = found.loads[0];
    const Cause* const cause = cause_of(found, CauseKind::ceiling);
    REQUIRE(cause != nullptr);
    CHECK(despairs(found) == (load.ceiling * (load.measured / load.expected) < 1.0));
}

TEST_CASE("where the prediction's own part leads, what lies beyond it is named with its alternatives") {
    Diagnosis diagnosis;
    const auto cause = [](CauseKind kind, double rank, bool pattern) {
        Cause made{kind, 0.3, rank, pattern, "", "", "", pattern};
        return made;
    };
    diagnosis.causes = {cause(CauseKind::prompts, 0.3, false), cause(CauseKind::prompts_cost_more, 0.25, true),
                        cause(CauseKind::verify_attention, 0.24, true), cause(CauseKind::host_per_round, 0.1, true)};
    CHECK(likeliest(diagnosis) == std::vector<CauseKind>{CauseKind::prompts});
    CHECK(likeliest_beyond(diagnosis) == std::vector<CauseKind>{CauseKind::prompts_cost_more, CauseKind::verify_attention});
    std::swap(diagnosis.causes[0], diagnosis.causes[1]);
    CHECK(likeliest_beyond(diagnosis).empty());
    CHECK_FALSE(diagnosis.causes[1].excludes_others());  // no pattern
    CHECK(diagnosis.causes[2].excludes_others());
    diagnosis.causes[2].together = true;
    CHECK_FALSE(diagnosis.causes[2].excludes_others());
}

TEST_CASE("counts are no remedy beside a defect") {
    DiagnosisInput input = faulty(small_pair(), {1}, {0, 3}, [](double, int) { return 2.0 * small_step(); });
    const auto counts_in = [](const Diagnosis& found) {
        return std::any_of(found.causes.begin(), found.causes.end(), [](const Cause& cause) {
            return cause.what_to_try().find("draft") != std::string::npos &&
                   cause.what_to_try().find("fewer") != std::string::npos;
        });
    };
    CHECK(counts_in(diagnose(input)));
    runs::RunCell noise;
    noise.batch = 1.0;
    noise.draft_tokens = 3;
    noise.acceptance.drafts = noise.acceptance.drafts_with_positions = 1000.0;
    noise.acceptance.drafted = 3000.0;
    noise.acceptance.reached = {10.0, 0.0, 0.0};
    noise.acceptance.accepted = 10.0;
    input.accepted = {noise};
    const Diagnosis defective = diagnose(input);
    CHECK(defective.causes.front().kind == CauseKind::defect);
    CHECK_FALSE(counts_in(defective));
}

}  // namespace diagnosis_thresholds_test
