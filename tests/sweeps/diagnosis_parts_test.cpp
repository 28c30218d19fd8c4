// The parts of a diagnosis, one by one: fits of patterns, plain steps between measured ones, and the edges at which acceptance
// is called a defect.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "setups.h"
#include "sweeps/diagnosis.h"
#include "sweeps/diagnosis_fit.h"
#include "sweeps/diagnosis_plain.h"

namespace diagnosis_parts_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

using diagnosis::Pattern;

const sim::RoundSetup& setup() {
    static const sim::RoundSetup one = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    return one;
}

/// A measured load that takes `factor` times what is predicted.
DiagnosedPoint measured(double batch, int length, double factor, double context = 1000.0) {
    static const sim::CompiledRound round = sim::compile_round(setup());
    DiagnosedPoint point{{}, setup(), {length, batch, context}};
    point.cell.batch = batch;
    point.cell.draft_tokens = length;
    point.cell.context = context;
    const sim::RoundEstimate estimate = sim::evaluate(round, point.point);
    point.cell.stated_length = length > 0 ? estimate.accept_length : 0.0;
    point.cell.round.add(factor * estimate.round.value());
    return point;
}

runs::RunCell accepted(double batch, int draft_tokens, double length, double context = 0.0) {
    runs::RunCell cell;
    cell.batch = batch;
    cell.draft_tokens = draft_tokens;
    cell.stated_length = length;
    cell.context = context;
    return cell;
}

/// Counts of so many drafts of which reached[i] got as far.
runs::RunCell counted(double drafts, std::vector<double> reached) {
    runs::RunCell cell;
    cell.batch = 1.0;
    cell.draft_tokens = static_cast<int>(reached.size());
    cell.acceptance.drafts = cell.acceptance.drafts_with_positions = drafts;
    cell.acceptance.drafted = drafts * static_cast<double>(reached.size());
    for (const double each : reached) {
        cell.acceptance.accepted += each;
    }
    cell.acceptance.reached = std::move(reached);
    return cell;
}

bool has(const std::vector<runs::RunCell>& cells, CauseKind kind, sim::Drafter drafter = setup().drafter) {
    DiagnosisInput input;
    input.rounds = {measured(1.0, 3, 1.0)};
    input.rounds.front().setup.drafter = std::move(drafter);
    input.plain = {measured(1.0, 0, 1.0)};
    input.accepted = cells;
    const Diagnosis found = diagnose(input);
    return std::any_of(found.causes.begin(), found.causes.end(), [&](const Cause& cause) { return cause.kind == kind; });
}
bool defective(const std::vector<runs::RunCell>& cells) { return has(cells, CauseKind::defect); }

}  // namespace

TEST_CASE("one pattern: weighted least squares, within what is plausible") {
    const Pattern line{{1.0, 2.0, 3.0}};
    const diagnosis::PatternFit exact = diagnosis::fit({&line}, {2.0, 4.0, 6.0}, {1.0, 1.0, 1.0});
    CHECK(exact.factors.front() == Approx(2.0));
    CHECK(exact.explained == Approx(1.0));
    // (1·1·1 + 4·2·3)/(1·1 + 4·4) = 25/17; left are (1 − 25/17)² + 4·(3 − 50/17)² of 1 + 36.
    const Pattern two{{1.0, 2.0}};
    const diagnosis::PatternFit weighted = diagnosis::fit({&two}, {1.0, 3.0}, {1.0, 4.0});
    CHECK(weighted.factors.front() == Approx(25.0 / 17));
    CHECK(weighted.explained == Approx(1 - (std::pow(8.0 / 17, 2) + 4 * std::pow(1.0 / 17, 2)) / 37));
    const Pattern bounded{{1.0, 2.0, 3.0}, 0.5, 1.5};
    CHECK(diagnosis::fit({&bounded}, {2.0, 4.0, 6.0}, {1.0, 1.0, 1.0}).factors.front() == 1.5);
    CHECK(diagnosis::fit({&bounded}, {0.4, 0.8, 1.2}, {1.0, 1.0, 1.0}).factors.front() == 0.0);  // less than is plausible
    CHECK(diagnosis::fit({&bounded}, {0.4, 0.8, 1.2}, {1.0, 1.0, 1.0}).explained == 0.0);
    CHECK(diagnosis::fit({&bounded}, {0.5, 1.0, 1.5}, {1.0, 1.0, 1.0}).factors.front() == Approx(0.5));
    CHECK(diagnosis::fit({&line}, {-1.0, -2.0, -3.0}, {1.0, 1.0, 1.0}).factors.front() == 0.0);
    CHECK(diagnosis::fit({&line}, {0.0, 0.0, 0.0}, {1.0, 1.0, 1.0}).explained == 0.0);
    const Pattern nothing{{0.0, 0.0, 0.0}};
    CHECK(diagnosis::fit({&nothing}, {1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}).factors.front() == 0.0);
}

TEST_CASE("two patterns: each gets its own factor") {
    const Pattern fixed{{1.0, 1.0, 1.0}}, line{{1.0, 2.0, 4.0}};
    const diagnosis::PatternFit both = diagnosis::fit({&fixed, &line}, {5.0, 7.0, 11.0}, {1.0, 2.0, 1.0});
    CHECK(both.factors[0] == Approx(3.0));
    CHECK(both.factors[1] == Approx(2.0));
    CHECK(both.explained == Approx(1.0));
}

TEST_CASE("a plain step: as measured at the very load, else interpolated in logarithms, else as at the nearest") {
    const std::vector<DiagnosedPoint> plain = {measured(4.0, 0, 1.2), measured(16.0, 0, 1.8)};
    const auto at = [&](double batch, double context = 1000.0) {
        return diagnosis::plain_step(plain, accepted(batch, 3, 2.0, context));
    };
    CHECK(at(4.0).factor == Approx(1.2));
    CHECK(at(4.0).time.value() == Approx(plain[0].cell.round.mean()));
    CHECK(at(8.0).factor == Approx(1.5));  // half way from 4 to 16
    CHECK(at(8.0).time == Seconds(0.0));
    CHECK(at(2.0).factor == Approx(1.2));
    CHECK(at(64.0).factor == Approx(1.8));
    CHECK(at(4.0, 1100.0).time > Seconds(0.0));  // a tenth of the larger context is one load
    CHECK(at(4.0, 1112.0).time == Seconds(0.0));
    CHECK(at(4.0, 0.0).time > Seconds(0.0));  // not known
    CHECK(diagnosis::plain_step({}, accepted(4.0, 3, 2.0)).factor == 0.0);
    const std::vector<DiagnosedPoint> contexts = {measured(4.0, 0, 1.2, 1000.0), measured(4.0, 0, 1.4, 4000.0),
                                                  measured(4.0, 0, 1.3, 1050.0)};
    CHECK(diagnosis::plain_step(contexts, accepted(4.0, 3, 2.0, 2049.39)).factor ==
          Approx(1.35).epsilon(1e-4));                                                            // of 1050 and 4000
    CHECK(diagnosis::plain_step(contexts, accepted(4.0, 3, 2.0, 1020.0)).factor == Approx(1.2));  // the nearer of two
    CHECK(diagnosis::plain_step(contexts, accepted(4.0, 3, 2.0, 1040.0)).factor == Approx(1.3));
}

TEST_CASE("a load's break-even, speed-up and ceiling are in plain steps") {
    DiagnosisInput input;
    input.rounds = {measured(8.0, 3, 1.0), measured(8.0, 5, 1.0)};
    input.plain = {measured(8.0, 0, 2.0)};
    const double plain_tpot = input.plain[0].cell.round_seconds(), tpot = input.rounds[0].cell.tpot_seconds();
    input.rounds[0].cell.tpot.add(tpot);
    input.plain[0].cell.tpot.add(plain_tpot);
    const Diagnosis found = diagnose(input);
    const DiagnosedLoad& load = found.loads[0];
    CHECK(load.expected.value() == Approx(2 * load.predicted.value()));
    CHECK(load.break_even == Approx(load.measured / load.plain_measured));
    CHECK(load.plain_measured.value() == Approx(input.plain[0].cell.round_seconds()));
    CHECK(load.speedup == Approx(load.accept_length / load.break_even));
    CHECK(load.ceiling == Approx(4.0 / load.break_even));
    CHECK(load.served_speedup == Approx(plain_tpot / tpot));
    CHECK_FALSE(load.plain_interpolated);
    CHECK(found.loads[1].served_speedup == 0.0);
    CHECK(found.focus == (found.loads[1].speedup < found.loads[0].speedup ? 1U : 0U));
}

TEST_CASE("acceptance of next to none, or of all, is a defect") {
    CHECK(defective({accepted(1.0, 3, 1.015)}));
    CHECK_FALSE(defective({accepted(1.0, 3, 1.03)}));
    CHECK(defective({accepted(1.0, 3, 4.0)}));
    CHECK(defective({accepted(1.0, 3, 3.998)}));
    CHECK_FALSE(defective({accepted(1.0, 3, 3.99)}));
    CHECK_FALSE(defective({accepted(1.0, 1, 2.0)}));  // a single draft may be accepted in every round
    CHECK(defective({accepted(1.0, 2, 3.0)}));
    CHECK_FALSE(defective({accepted(1.0, 3, 0.5)}));  // no accept length
    CHECK(defective({counted(40.0, {0.8, 0.0})}));
    CHECK_FALSE(defective({counted(39.0, {0.7, 0.0})}));                                // too few rounds
    CHECK_FALSE(has({accepted(1.0, 3, 4.0)}, CauseKind::defect, sim::NgramDrafter{}));  // hits come in runs
}

TEST_CASE("drafts that get easier with their position are a defect") {
    CHECK(defective({counted(1000.0, {400.0, 290.0})}));        // 40 %, then 72.5 %
    CHECK_FALSE(defective({counted(1000.0, {400.0, 275.0})}));  // then 68.75 %
    CHECK_FALSE(defective({counted(1000.0, {500.0, 450.0})}));  // the first is not bad
    CHECK(defective({counted(1000.0, {490.0, 400.0})}));
    CHECK(defective({counted(100.0, {40.0, 30.0})}));
    CHECK_FALSE(defective({counted(97.0, {39.0, 30.0})}));  // fewer than 40 rounds reach the second
    CHECK(defective({counted(1000.0, {400.0, 200.0, 150.0})}));
}

TEST_CASE("yields that collapse with the batch, or with the draft length, are a defect") {
    CHECK(defective({accepted(1.0, 3, 2.0), accepted(8.0, 3, 1.45)}));
    CHECK_FALSE(defective({accepted(1.0, 3, 2.0), accepted(8.0, 3, 1.5)}));  // half is no collapse
    CHECK_FALSE(defective({accepted(8.0, 3, 2.0), accepted(1.0, 3, 1.45)}));
    CHECK_FALSE(defective({accepted(1.0, 3, 1.29), accepted(8.0, 3, 1.1)}));  // hardly anything to collapse
    CHECK(defective({accepted(1.0, 3, 2.0, 1000.0), accepted(8.0, 3, 1.45, 1900.0)}));
    CHECK_FALSE(defective({accepted(1.0, 3, 2.0, 1000.0), accepted(8.0, 3, 1.45, 2000.0)}));
    CHECK_FALSE(defective({accepted(1.0, 3, 2.0), accepted(8.0, 4, 1.6)}));  // another length: 1/3 of drafts against 0.6 in all
    CHECK(defective({accepted(1.0, 3, 3.7), accepted(1.0, 5, 1.4)}));        // the first: at least 90 %, at most 40 %
    CHECK_FALSE(defective({accepted(1.0, 3, 3.7), accepted(1.0, 5, 1.46)}));
    CHECK_FALSE(defective({accepted(1.0, 3, 3.7), accepted(2.0, 5, 1.4)}));
}

TEST_CASE("yields that collapse with the context are the drafter's training") {
    const auto long_contexts = [](double longer, double length, double batch = 1.0) {
        return has({accepted(1.0, 3, 2.0, 1000.0), accepted(batch, 3, length, longer)}, CauseKind::long_contexts);
    };
    CHECK(long_contexts(2000.0, 1.45));
    CHECK_FALSE(long_contexts(1999.0, 1.45));
    CHECK_FALSE(long_contexts(2000.0, 1.5));
    CHECK_FALSE(long_contexts(2000.0, 1.45, 2.0));
    CHECK_FALSE(long_contexts(500.0, 1.45));
}

TEST_CASE("a drafter that idles costs what steps take longer with it") {
    DiagnosisInput input;
    input.plain = {measured(2.0, 0, 1.0), measured(64.0, 0, 1.0)};
    const auto share = [&](double factor) {
        input.idle = {measured(2.0, 0, 1.0), measured(64.0, 0, factor)};
        const Diagnosis found = diagnose(input);
        return found.causes.empty() ? 0.0 : found.causes.front().share;
    };
    CHECK(share(1.25) == Approx(0.2));
    CHECK(share(1.03) == Approx(0.03 / 1.03));
    CHECK(share(1.015) == 0.0);
}

TEST_CASE("without plain steps the predicted one stands for them") {
    DiagnosisInput input;
    input.rounds = {measured(8.0, 3, 1.5)};
    const Diagnosis found = diagnose(input);
    const DiagnosedLoad& load = found.loads.front();
    CHECK(load.expected == load.predicted);
    CHECK(load.break_even == Approx(load.measured / load.plain_predicted));
}

TEST_CASE("of loads that lose as much the first is in focus") {
    DiagnosisInput input;
    input.rounds = {measured(8.0, 3, 1.5), measured(8.0, 3, 1.5)};
    input.plain = {measured(8.0, 0, 1.0)};
    CHECK(diagnose(input).focus == 0);
}

TEST_CASE("a dense model on one device has no time of experts or collectives") {
    DiagnosisInput input;
    input.rounds = {measured(8.0, 3, 1.0)};
    const RoundParts parts = diagnose(input).loads.front().parts;
    CHECK(parts[static_cast<std::size_t>(RoundPart::experts)] == Seconds(0.0));
    CHECK(parts[static_cast<std::size_t>(RoundPart::collectives)] == Seconds(0.0));
}

TEST_CASE("a log of steps without a graph is evidence, with their share") {
    DiagnosisInput input;
    input.rounds = {measured(8.0, 3, 1.0)};
    input.rounds.front().cell.eager_steps = 30.0;
    input.rounds.front().cell.captured_steps = 10.0;
    const std::vector<Cause> causes = diagnose(input).causes;
    const auto named = std::find_if(causes.begin(), causes.end(),
                                    [](const Cause& cause) { return cause.kind == CauseKind::rounds_not_captured; });
    REQUIRE(named != causes.end());
    CHECK_THAT(named->evidence, Catch::Contains("75 % of the steps"));
    input.rounds.front().cell.captured_steps = 30.0;  // most have one
    for (const Cause& cause : diagnose(input).causes) {
        CHECK(cause.kind != CauseKind::rounds_not_captured);
    }
}

}  // namespace diagnosis_parts_test
