// What a diagnosis finds in runs that the cost model itself made, with a known fault put in.
#include <algorithm>

#include <catch2/catch.hpp>

#include "setups.h"
#include "sweeps/diagnosis.h"

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

/// Loads of a deployment: the model's own rounds, with `fault` seconds more.
template <class Fault>
DiagnosisInput faulty(const sim::RoundSetup& setup, const std::vector<double>& batches, const std::vector<int>& lengths,
                      Fault fault) {
    const sim::CompiledRound round = sim::compile_round(setup);
    DiagnosisInput input;
    for (const double batch : batches) {
        for (const int length : lengths) {
            DiagnosedPoint point{{}, setup, {length, batch, 1000.0}};
            point.cell.batch = batch;
            point.cell.draft_tokens = length;
            const sim::RoundEstimate estimate = sim::evaluate(round, point.point);
            point.cell.stated_length = length > 0 ? estimate.accept_length : 0.0;
            point.cell.round.add(estimate.round.value() + (length > 0 ? fault(batch, length) : 0.0));
            (length > 0 ? input.rounds : input.plain).push_back(point);
        }
    }
    return input;
}

}  // namespace

TEST_CASE("a run that is as predicted has no cause beyond the prediction") {
    const sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    const Diagnosis found = diagnose(faulty(setup, {1, 8, 32}, {0, 1, 3, 5}, [](double, int) { return 0.0; }));
    for (const DiagnosedLoad& load : found.loads) {
        CHECK(load.measured / load.expected == Approx(1.0));
        Seconds sum;
        for (const Seconds part : load.parts) {
            sum += part;
        }
        CHECK(sum / load.predicted == Approx(1.0));
        CHECK(load.ceiling >= load.speedup);
    }
    for (const Cause& cause : found.causes) {
        CHECK((!cause.beyond_prediction || cause.kind == CauseKind::below_break_even || cause.kind == CauseKind::ceiling));
    }
}

TEST_CASE("faults are told apart by how they grow with batch and draft length") {
    const sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    const std::vector<double> batches = {1, 8, 32};
    const std::vector<int> lengths = {0, 1, 3, 5};
    const auto first_of = [&](auto fault) {
        const Diagnosis found = diagnose(faulty(setup, batches, lengths, fault));
        for (const Cause& cause : found.causes) {
            if (cause.beyond_prediction && cause.kind != CauseKind::below_break_even && cause.kind != CauseKind::ceiling) {
                return cause.kind;
            }
        }
        return CauseKind::ceiling;
    };
    const double step = sim::evaluate(sim::compile_round(setup), {0, 1, 1000.0}).round.value();
    CHECK(first_of([&](double, int) { return 0.1 * step; }) == CauseKind::host_per_round);
    CHECK(first_of([&](double batch, int) { return 0.05 * step * batch; }) == CauseKind::host_per_sequence);
    CHECK(first_of([&](double batch, int length) { return 0.02 * step * batch * length; }) == CauseKind::rows_cost_more);
}

TEST_CASE("step(k) = a + b k is what was put in") {
    const sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    DiagnosisInput input = faulty(setup, {4}, {0, 1, 3, 5}, [](double, int) { return 0.0; });
    for (DiagnosedPoint& point : input.rounds) {
        point.cell.round = runs::MeasuredMean::of(0.010 + 0.002 * point.cell.draft_tokens, 0.0, 1.0, 1.0);
    }
    const Diagnosis found = diagnose(input);
    REQUIRE(found.laws.size() == 1);
    CHECK(found.laws[0].intercept.value() == Approx(0.010));
    CHECK(found.laws[0].slope.value() == Approx(0.002));
    CHECK(found.laws[0].lengths == 3);
}

TEST_CASE("a drafter that drafts nothing is compared with none") {
    const sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    DiagnosisInput input = faulty(setup, {2, 64}, {0}, [](double, int) { return 0.0; });
    input.idle = input.plain;
    for (DiagnosedPoint& point : input.idle) {
        point.cell.round = runs::MeasuredMean::of(1.15 * point.cell.round.mean(), 0.0, 1.0, 1.0);
    }
    REQUIRE(problems_of(input).empty());
    const Diagnosis found = diagnose(input);
    REQUIRE(found.causes.size() == 1);
    CHECK(found.causes[0].kind == CauseKind::idle_drafter);
    CHECK(found.causes[0].share == Approx(0.15 / 1.15));
    CHECK_FALSE(problems_of(DiagnosisInput{}).empty());
}

TEST_CASE("a round longer than what it can yield is hopeless for any drafter") {
    const sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    DiagnosisInput input = faulty(setup, {16}, {0, 3}, [](double, int) { return 0.0; });
    input.rounds[0].cell.round = runs::MeasuredMean::of(4.5 * input.plain[0].cell.round.mean(), 0.0, 1.0, 1.0);
    const Diagnosis found = diagnose(input);
    CHECK(found.loads[0].ceiling == Approx(4.0 / 4.5));
    CHECK(std::any_of(found.causes.begin(), found.causes.end(),
                      [](const Cause& cause) { return cause.kind == CauseKind::ceiling; }));
}
