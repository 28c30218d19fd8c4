// The edges at which acceptance is called a defect, or the drafter's training.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "faulty_rounds.h"
#include "sweeps/diagnosis.h"
#include "sweeps/diagnosis_causes.h"

namespace diagnosis_defects_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

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

bool has(const std::vector<runs::RunCell>& cells, CauseKind kind, bool looks_up = false) {
    DiagnosisInput input;
    input.looks_up = looks_up;
    input.rounds = {measured_load(1.0, 3, 1.0)};
    input.plain = {measured_load(1.0, 0, 1.0)};
    input.accepted = cells;
    const Diagnosis found = diagnose(input);
    return std::any_of(found.causes.begin(), found.causes.end(), [&](const Cause& cause) { return cause.kind == kind; });
}
bool defective(const std::vector<runs::RunCell>& cells) { return has(cells, CauseKind::defect); }

}  // namespace

TEST_CASE("acceptance of next to none, or of all, is a defect") {
    CHECK(defective({accepted(1.0, 3, 1.015)}));
    CHECK_FALSE(defective({accepted(1.0, 3, 1.03)}));
    CHECK(defective({accepted(1.0, 3, 4.0)}));
    CHECK(defective({accepted(1.0, 3, 3.998)}));
    CHECK(defective({accepted(1.0, 3, 3.95)}));  // 98.3 % of drafts
    CHECK_FALSE(defective({accepted(1.0, 3, 3.93)}));
    CHECK(defective({accepted(1.0, 2, 2.96)}));  // 98 %
    CHECK_FALSE(defective({accepted(1.0, 2, 2.95)}));
    CHECK(defective({counted(1000.0, {999.0, 998.0, 997.0})}));
    CHECK_FALSE(defective({counted(1000.0, {970.0})}));
    CHECK_FALSE(defective({accepted(1.0, 1, 2.0)}));  // a single draft may be accepted in every round
    CHECK(defective({accepted(1.0, 2, 3.0)}));
    CHECK_FALSE(defective({accepted(1.0, 3, 0.5)}));  // no accept length
    CHECK(defective({counted(40.0, {0.8, 0.0})}));
    CHECK_FALSE(defective({counted(39.0, {0.7, 0.0})}));  // too few rounds
    CHECK(defective({counted(80.0, {40.0, 0.0})}));       // forty reach the second draft, and none passes it
    CHECK(defective({counted(1000.0, {50.0, 1.0})}));     // 5 %, then the 2 % that random tokens reach
    CHECK_FALSE(defective({counted(1000.0, {50.0, 2.0})}));
    CHECK_FALSE(defective({counted(80.0, {39.0, 0.0})}));
    CHECK_FALSE(has({accepted(1.0, 3, 4.0)}, CauseKind::defect, true));  // hits come in runs
}

TEST_CASE("a later draft that falls far below the one before it is a defect") {
    CHECK(defective({counted(1e6, {830e3, 70e3, 30e3})}));            // 83 %, then 8.4 % of those
    CHECK(defective({counted(1000.0, {800.0, 130.0})}));              // 16.3 +- 1.3 %, where a quarter is 20 %
    CHECK_FALSE(defective({counted(1000.0, {800.0, 150.0})}));        // 18.8 +- 1.4 % may be 20 %
    CHECK(defective({counted(1000.0, {800.0, 138.0})}));              // 17.25 + 2 * 1.336 % = 19.92 %
    CHECK_FALSE(defective({counted(1000.0, {800.0, 139.0})}));        // 17.375 + 2 * 1.340 % = 20.05 %
    CHECK_FALSE(defective({counted(1000.0, {366.0, 204.0, 70.0})}));  // the steepest that was published: 56 %, then 34 %
    CHECK(defective({counted(10'000.0, {8000.0, 6000.0, 600.0})}));
    // 6.25 + 2 * 1.5625 % of 240 rounds are just a quarter of 37.5 %.
    CHECK_FALSE(defective({counted(640.0, {240.0, 15.0})}));
    CHECK(defective({counted(640.0, {240.0, 14.0})}));
    runs::RunCell ends_early = counted(1e6, {830e3, 70e3, 30e3});
    ends_early.acceptance.drafted = 1.2e6;  // of 3 millions
    CHECK_FALSE(defective({ends_early}));
    runs::RunCell nearly_full = counted(1000.0, {800.0, 50.0});
    nearly_full.acceptance.drafted = 1900.0;  // of 2000
    CHECK(defective({nearly_full}));
    nearly_full.acceptance.drafted = 1890.0;
    CHECK_FALSE(defective({nearly_full}));
    ends_early.acceptance.drafted = 0.0;  // how long they were is not known
    CHECK(defective({ends_early}));
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

TEST_CASE("counts that rise with the position are a defect of their own") {
    for (const auto& reached : {std::vector<double>{220.0, 410.0, 360.0}, {700.0, 720.0, 300.0}, {600.0, 300.0, 340.0}}) {
        DiagnosisInput input;
        input.accepted = {counted(1000.0, reached)};
        CHECK(input.accepted.front().acceptance.problems().empty());
        CHECK(diagnosis::defects_of(input).find("so these rates cannot rise") != std::string::npos);
    }
    CHECK_FALSE(defective({counted(1000.0, {700.0, 705.0, 300.0})}));  // as rates are rounded
}

TEST_CASE("yields that collapse with the batch, or with the draft length, are a defect") {
    CHECK(defective({accepted(1.0, 3, 2.0), accepted(8.0, 3, 1.45)}));
    CHECK_FALSE(defective({accepted(1.0, 3, 2.0), accepted(8.0, 3, 1.5)}));  // half is no collapse
    CHECK_FALSE(defective({accepted(8.0, 3, 2.0), accepted(1.0, 3, 1.45)}));
    CHECK_FALSE(defective({accepted(1.0, 3, 1.29), accepted(8.0, 3, 1.1)}));  // hardly anything to collapse
    CHECK(defective({accepted(1.0, 3, 2.0, 1000.0), accepted(8.0, 3, 1.45, 1900.0)}));
    CHECK_FALSE(defective({accepted(1.0, 3, 2.0, 1000.0), accepted(8.0, 3, 1.45, 2000.0)}));
    CHECK(defective({accepted(1.0, 3, 2.0), accepted(8.0, 3, 1.45, 2000.0)}));  // one context is not known
    CHECK(defective({accepted(1.0, 3, 2.0, 2000.0), accepted(8.0, 3, 1.45)}));
    CHECK_FALSE(defective({accepted(8.0, 3, 2.0, 1000.0), accepted(8.0, 3, 1.45, 1900.0)}));  // at one batch
    CHECK_FALSE(defective({accepted(1.0, 3, 2.0), accepted(8.0, 4, 1.6)}));  // another length: 1/3 of drafts against 0.6 in all
    CHECK(defective({accepted(1.0, 3, 3.7), accepted(1.0, 5, 1.4)}));        // the first: at least 90 %, at most 40 %
    CHECK_FALSE(defective({accepted(1.0, 3, 3.7), accepted(1.0, 5, 1.46)}));
    // Of 30 % and less there is hardly anything to collapse.
    CHECK_FALSE(defective({counted(1000.0, {300.0, 150.0}), counted(1000.0, {100.0, 30.0, 9.0})}));
    CHECK(defective({counted(1000.0, {301.0, 150.0}), counted(1000.0, {100.0, 30.0, 9.0})}));
    CHECK_FALSE(defective({accepted(1.0, 3, 3.7), accepted(2.0, 5, 1.4)}));
    // Of fewer than 40 rounds, good or bad, no share is taken seriously.
    const auto at_batch = [](double batch, double drafts, const std::vector<double>& reached) {
        runs::RunCell cell = counted(drafts, reached);
        cell.batch = batch;
        return cell;
    };
    for (const double rounds : {30.0, 40.0}) {
        CHECK(defective({at_batch(1.0, rounds, {0.8 * rounds, 0.5 * rounds}), at_batch(8.0, 1000.0, {300.0, 100.0})}) ==
              (rounds == 40.0));
        CHECK(defective({at_batch(1.0, 1000.0, {800.0, 500.0}), at_batch(8.0, rounds, {0.3 * rounds, 0.1 * rounds})}) ==
              (rounds == 40.0));
    }
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
    CHECK_FALSE(
        has({accepted(1.0, 3, 2.0), accepted(1.0, 3, 1.4)}, CauseKind::long_contexts));  // of contexts that nobody knows
    CHECK_FALSE(has({accepted(1.0, 3, 2.0, 1000.0), accepted(1.0, 5, 1.4, 8000.0)}, CauseKind::long_contexts));
}

TEST_CASE("yields that differ strongly with the back end, build, cache or device are a defect") {
    const auto defect = [](double here, double elsewhere, int drafts_elsewhere = 3, double batch_elsewhere = 1.0) {
        DiagnosisInput input;
        input.rounds = {measured_load(1.0, 3, 1.0)};
        input.plain = {measured_load(1.0, 0, 1.0)};
        input.accepted = {accepted(1.0, 3, here)};
        input.accepted.front().variant = "CUDA";
        input.elsewhere = {accepted(batch_elsewhere, drafts_elsewhere, elsewhere)};
        input.elsewhere.front().variant = "Vulkan";
        const Diagnosis found = diagnose(input);
        const Cause* cause = cause_of(found, CauseKind::defect);
        return cause == nullptr ? std::string() : cause->evidence;
    };
    const std::string evidence = defect(2.22, 3.76);  // llama.cpp issue 26750
    CHECK(evidence.find("3.76 tokens with Vulkan and 2.22 with CUDA") != std::string::npos);
    CHECK(evidence.find("26750") != std::string::npos);
    CHECK_FALSE(defect(3.76, 2.22).empty());
    CHECK(defect(2.0, 2.5).empty());         // 1 and 1.5 drafts
    CHECK_FALSE(defect(2.0, 2.52).empty());  // more
    CHECK_FALSE(defect(2.22, 3.76, 3, 0.0).empty());
    CHECK_FALSE(defect(3.76, 2.22, 3, 0.0).empty());
    CHECK(defect(2.22, 3.76, 3, 8.0).empty());
    CHECK(defect(2.22, 3.4, 2).empty());  // another draft length
}

}  // namespace diagnosis_defects_test
