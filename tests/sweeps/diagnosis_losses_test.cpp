// What a diagnosis says of a round that loses to plain decoding: as it is, and without what it takes too long.
#include <catch2/catch.hpp>

#include <optional>

#include <fmt/format.h>

#include "faulty_rounds.h"
#include "setups.h"
#include "sweeps/diagnosis.h"

namespace diagnosis_losses_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

/// A round of three drafts that takes so many plain steps of 8 ms, and yields so many tokens; 0 = not known.
Diagnosis of_steps(double steps, double yields) {
    DiagnosisInput input = as_predicted(small_pair(), {3, 8.0, 1000.0});
    input.plain[0].cell.round = runs::MeasuredMean::of(0.008, 0.0, 1.0, 1.0);
    input.rounds[0].cell.round = runs::MeasuredMean::of(steps * 0.008, 0.0, 1.0, 1.0);
    input.rounds[0].cell.stated_length = yields;
    return diagnose(input);
}

std::optional<CauseKind> loss_of(double steps, double yields) {
    const Diagnosis found = of_steps(steps, yields);
    for (const CauseKind kind : {CauseKind::ceiling, CauseKind::below_break_even}) {
        if (cause_of(found, kind) != nullptr) {
            return kind;
        }
    }
    return std::nullopt;
}

}  // namespace

TEST_CASE("a round loses where it yields fewer tokens than it takes steps, and is hopeless where it can yield no more") {
    CHECK(loss_of(2.0, 1.99) == CauseKind::below_break_even);
    CHECK_FALSE(loss_of(2.0, 2.0));
    CHECK_FALSE(loss_of(2.0, 2.01));
    CHECK(loss_of(4.0, 3.5) == CauseKind::below_break_even);  // four accepted ones would do
    CHECK_FALSE(loss_of(4.0, 4.0));
    CHECK(loss_of(4.01, 3.5) == CauseKind::ceiling);
    // Where nobody knows what it yields, it loses for sure if it takes more than four steps.
    CHECK_FALSE(loss_of(3.0, 0.0));
    CHECK_FALSE(loss_of(4.0, 0.0));
    CHECK(loss_of(4.01, 0.0) == CauseKind::ceiling);
    const Diagnosis hopeless = of_steps(5.0, 3.5);
    CHECK_THAT(cause_of(hopeless, CauseKind::ceiling)->evidence,
               Catch::Contains("a round takes 5.00 plain steps, more than the 4 tokens that it can yield: even with every "
                               "draft accepted it would run at 0.80x."));
}

TEST_CASE("a round that is a little too long, for no cause, is told to draft less, not to mend what makes it too long") {
    DiagnosisInput input = as_predicted(small_pair(), {3, 8.0, 1000.0}, 1.04);
    runs::RunCell& cell = input.rounds.front().cell;
    cell.stated_length = 0.98 * cell.round.mean() / input.plain.front().cell.round.mean();
    const Diagnosis found = diagnose(input);
    REQUIRE(found.loads.front().speedup * 1.04 > 1.0);
    const Cause* const loss = cause_of(found, CauseKind::below_break_even);
    REQUIRE(loss != nullptr);
    CHECK(loss->share == Approx(0.02));
    CHECK(loss->rank == loss->share);
    CHECK(loss->remedy.empty());
    CHECK_THAT(loss->evidence, Catch::Contains("with every draft accepted it would run at"));
}

TEST_CASE("without measured plain steps the predicted ones tell what a mended round would gain") {
    const sim::RoundEstimate plain = sim::evaluate(sim::compile_round(small_pair()), {0, 8.0, 1000.0}),
                             drafts = sim::evaluate(sim::compile_round(small_pair()), {3, 8.0, 1000.0});
    // Without graphs the plain step, too, would be launched kernel by kernel; mended, both are in graphs.
    DiagnosisInput input = as_predicted(small_pair(), {3, 8.0, 1000.0}, 20.0);
    input.plain.clear();
    for (const runs::GraphMode mode : {runs::GraphMode::full, runs::GraphMode::none}) {
        input.settings.graphs = mode;
        const Diagnosis found = diagnose(input);
        const Cause* const ceiling = cause_of(found, CauseKind::ceiling);
        REQUIRE(ceiling != nullptr);
        CHECK_THAT(ceiling->evidence,
                   Catch::Contains(fmt::format("Without what it takes too long it could run at up to {:.2f}x.",
                                               4.0 * (plain.round / drafts.round))));
    }
    // A drafter of a sixth of its target could not gain even so.
    DiagnosisInput large =
        as_predicted(pair_setup("llama-3.2-1b", "llama-3-8b", platform("h100-sxm", "cuda-graph")), {3, 8.0, 1000.0}, 1.25);
    large.plain.clear();
    const Diagnosis found = diagnose(large);
    REQUIRE(cause_of(found, CauseKind::ceiling) != nullptr);
    CHECK_THAT(cause_of(found, CauseKind::ceiling)->remedy, Catch::Contains("no better drafter helps here"));
}

TEST_CASE("without a round that was timed the answer is acceptance, and what idle steps take beside plain ones") {
    runs::RunCell noise = accepted(1.0, 3, 1.01);
    DiagnosisInput input;
    input.accepted = {noise};
    for (const bool plain : {false, true}) {
        for (const bool idle : {false, true}) {
            input.plain = plain ? std::vector{measured_load(2.0, 0, 1.0)} : std::vector<DiagnosedPoint>{};
            input.idle = idle ? std::vector{measured_load(2.0, 0, 1.2)} : std::vector<DiagnosedPoint>{};
            const Diagnosis found = diagnose(input);
            CHECK(found.accepted_only() == !(plain && idle));
            CHECK(found.causes.front().kind == CauseKind::defect);
            CHECK((cause_of(found, CauseKind::idle_drafter) != nullptr) == (plain && idle));
        }
    }
}

}  // namespace diagnosis_losses_test
