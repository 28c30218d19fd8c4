// What a diagnosis finds in runs that the cost model itself made, with a known fault put in.
#include <algorithm>
#include <utility>

#include <catch2/catch.hpp>

#include "faulty_rounds.h"
#include "setups.h"
#include "sweeps/diagnosis.h"

namespace diagnosis_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

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

TEST_CASE("slots that llama.cpp decodes one after the other are told from tokens that cost more") {
    for (const auto& [stack, cause] : {std::pair{"llama.cpp", CauseKind::slots_apart}, {"vllm", CauseKind::rows_cost_more}}) {
        INFO(stack);
        const sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("rtx-4090", stack));
        const sim::CompiledRound round = sim::compile_round(setup);
        // Four slots, each with a round of its own: four times the round of one.
        const Diagnosis found = diagnose(faulty(setup, {1, 2, 4}, {0, 3}, [&](double batch, int length) {
            const double one = sim::evaluate(round, {length, 1.0, 1000.0}).round.value();
            return batch * one - sim::evaluate(round, {length, batch, 1000.0}).round.value();
        }));
        CHECK(likeliest(found).front() == cause);
    }
}

TEST_CASE("passes of a drafter that cost more are told from rows and from rounds") {
    const sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    const double step = sim::evaluate(sim::compile_round(setup), {0, 1, 1000.0}).round.value();
    const Diagnosis found =
        diagnose(faulty(setup, {1, 8, 32}, {0, 1, 3, 5}, [&](double, int length) { return 6.0 * step * length; }));
    CHECK(likeliest(found) == std::vector<CauseKind>{CauseKind::draft_passes});
}

TEST_CASE("two causes together are named with the share of each, and what one explains alone is not blamed on others") {
    const sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    const double step = sim::evaluate(sim::compile_round(setup), {0, 1, 1000.0}).round.value();
    const double fixed = 0.15 * step, per_sequence = 0.02 * step;
    const Diagnosis both =
        diagnose(faulty(setup, {1, 8, 32}, {0, 1, 3, 5}, [&](double batch, int) { return fixed + per_sequence * batch; }));
    std::vector<CauseKind> kinds = likeliest(both);
    std::sort(kinds.begin(), kinds.end());
    CHECK(kinds == std::vector<CauseKind>{CauseKind::host_per_sequence, CauseKind::host_per_round});
    const DiagnosedLoad& focus = both.loads[both.focus];
    for (const Cause& cause : both.causes) {
        if (cause.together) {
            const double put_in = cause.kind == CauseKind::host_per_round ? fixed : per_sequence * focus.cell.batch;
            CHECK(cause.share == Approx(put_in / focus.measured.value()).epsilon(0.02));
        }
    }
    const Diagnosis one =
        diagnose(faulty(setup, {1, 8, 32}, {0, 1, 3, 5}, [&](double batch, int) { return per_sequence * batch; }));
    CHECK(std::count_if(one.causes.begin(), one.causes.end(), [](const Cause& cause) { return cause.is_pattern; }) == 1);
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

namespace {

/// A load at a context, with the model's own time and `more` seconds.
DiagnosedPoint at_context(double context, int length, double more = 0.0) {
    DiagnosedPoint point{{}, small_pair(), {length, 1.0, context}};
    point.cell.batch = 1.0;
    point.cell.draft_tokens = length;
    point.cell.context = context;
    const sim::RoundEstimate estimate = sim::evaluate(sim::compile_round(point.setup), point.point);
    point.cell.stated_length = length > 0 ? estimate.accept_length : 0.0;
    point.cell.round.add(estimate.round.value() + more);
    return point;
}

runs::RunCell counted(double batch, int drafts, const std::vector<double>& positions, double rounds = 1000.0) {
    runs::RunCell cell;
    cell.batch = batch;
    cell.draft_tokens = drafts;
    cell.acceptance.drafts = cell.acceptance.drafts_with_positions = rounds;
    cell.acceptance.drafted = rounds * drafts;
    for (const double position : positions) {
        cell.acceptance.reached.push_back(position * rounds);
        cell.acceptance.accepted += position * rounds;
    }
    return cell;
}

Diagnosis with_cells(const std::vector<runs::RunCell>& cells) {
    DiagnosisInput input = faulty(small_pair(), {1}, {0, 3}, [](double, int) { return 0.0; });
    input.accepted = cells;
    return diagnose(input);
}

}  // namespace

TEST_CASE("plain decoding that was measured at the very load is used as it is") {
    DiagnosisInput input;
    input.plain = {at_context(1500, 0), at_context(50500, 0)};
    input.plain[0].cell.round = runs::MeasuredMean::of(0.036, 0.0, 1.0, 1.0);
    input.plain[1].cell.round = runs::MeasuredMean::of(0.0465, 0.0, 1.0, 1.0);
    input.rounds = {at_context(1500, 3), at_context(8000, 3), at_context(50500, 3)};
    input.rounds[0].cell.round = runs::MeasuredMean::of(0.075, 0.0, 1.0, 1.0);
    input.rounds[0].cell.stated_length = 4.8;
    for (const bool swapped : {false, true}) {
        DiagnosisInput in_order = input;
        if (swapped) {
            std::swap(in_order.plain[0], in_order.plain[1]);
        }
        const Diagnosis found = diagnose(in_order);
        CHECK(found.loads[0].plain_measured.value() == 0.036);
        CHECK(found.loads[0].break_even == Approx(75.0 / 36.0));
        CHECK(found.loads[0].speedup == Approx(4.8 * 36.0 / 75.0));
        CHECK(found.loads[2].plain_measured.value() == 0.0465);
        CHECK_FALSE(found.loads[0].plain_interpolated);
        CHECK(found.loads[1].plain_interpolated);
    }
}

TEST_CASE("an excess that grows with the context is the verification's attention") {
    DiagnosisInput input;
    for (const double context : {1024.0, 8192.0, 32768.0}) {
        input.plain.push_back(at_context(context, 0));
        input.rounds.push_back(at_context(context, 3, 1.5e-6 * context));
    }
    const Diagnosis found = diagnose(input);
    CHECK(found.causes.front().kind == CauseKind::verify_attention);
    CHECK(likeliest(found) == std::vector<CauseKind>{CauseKind::verify_attention});
    for (const Cause& cause : found.causes) {
        CHECK(cause.remedy.find("no better drafter helps") == std::string::npos);
    }
    // At one context it cannot be told from a fixed time.
    DiagnosisInput one;
    one.plain = {at_context(32768.0, 0)};
    one.rounds = {at_context(32768.0, 3, 0.05)};
    CHECK(diagnose(one).causes.front().kind != CauseKind::verify_attention);
}

TEST_CASE("acceptance that no trained drafter has is a defect, and counts are no remedy for it") {
    const auto defective = [](const Diagnosis& found) {
        return !found.causes.empty() && found.causes.front().kind == CauseKind::defect &&
               std::none_of(found.causes.begin(), found.causes.end(), [](const Cause& cause) {
                   return cause.kind == CauseKind::below_break_even || cause.kind == CauseKind::ceiling;
               });
    };
    CHECK(defective(with_cells({counted(1, 4, {0.015, 0.0, 0.0, 0.0})})));
    CHECK(defective(with_cells({counted(1, 3, {0.0, 0.0, 0.0}, 60)})));
    CHECK(
        defective(with_cells({counted(4, 15, std::vector<double>(15, 0.55)), counted(16, 15, std::vector<double>(15, 0.04))})));
    CHECK(defective(with_cells({counted(1, 3, {1.0, 1.0, 1.0})})));
    CHECK(defective(with_cells({counted(1, 3, {0.3, 0.27, 0.25})})));
    // Nothing after the first draft; few of the rounds that get so far say nothing.
    CHECK(defective(with_cells({counted(1, 4, {0.3, 0.0, 0.0, 0.0})})));
    CHECK_FALSE(defective(with_cells({counted(1, 4, {0.3, 0.0, 0.0, 0.0}, 100)})));
    CHECK_FALSE(defective(with_cells({counted(1, 4, {0.3, 0.05, 0.01, 0.0})})));
    // Where no round was timed, it is the answer; without a defect there is none.
    DiagnosisInput untimed;
    untimed.accepted = {counted(1, 4, {0.3, 0.0, 0.0, 0.0})};
    CHECK(problems_of(untimed).empty());
    CHECK(defective(diagnose(untimed)));
    CHECK(diagnose(untimed).accepted_only());
    untimed.accepted = {counted(1, 3, {0.7, 0.5, 0.3})};
    CHECK(problems_of(untimed).size() == 1);
    // The first draft does not know how many follow; with lengths alone, their mean bounds it.
    CHECK(defective(with_cells({counted(1, 2, {0.78, 0.6}), counted(1, 5, {0.2, 0.05, 0.01, 0.0, 0.0})})));
    CHECK_FALSE(defective(with_cells({counted(1, 2, {0.78, 0.6}), counted(1, 5, {0.7, 0.5, 0.3, 0.2, 0.1})})));
    // Weak, but a drafter; flat with the batch; too few rounds to tell.
    CHECK_FALSE(defective(with_cells({counted(1, 3, {0.45, 0.2, 0.1}), counted(16, 3, {0.43, 0.19, 0.1})})));
    CHECK_FALSE(defective(with_cells({counted(1, 3, {0.0, 0.0, 0.0}, 20)})));
}

TEST_CASE("acceptance that collapses as contexts grow is the drafter's training, and no matter of its length or of the batch") {
    const auto at = [](double batch, double context, const std::vector<double>& positions) {
        runs::RunCell cell = counted(batch, 3, positions);
        cell.context = context;
        return cell;
    };
    const std::vector<double> good = {0.78, 0.6, 0.45}, bad = {0.1, 0.01, 0.0};
    const Diagnosis found = with_cells({at(1, 1000, good), at(1, 40'000, bad)});
    REQUIRE(!found.causes.empty());
    CHECK(found.causes.front().kind == CauseKind::long_contexts);
    CHECK(found.causes.front().share == Approx(1.0 - 1.11 / 2.83));
    CHECK(found.causes.front().rank == Approx(2.0 - 1.11 / 2.83));
    CHECK(found.causes.front().evidence ==
          "With the same 3 draft tokens a round yields 2.83 tokens at 1000 tokens of context and 1.11 at 40000.");
    // Many requests with long contexts, few with short ones: the batch is not to blame.
    for (const Cause& cause : with_cells({at(1, 1000, good), at(16, 40'000, bad)}).causes) {
        CHECK(cause.kind != CauseKind::defect);
    }
    CHECK(with_cells({at(1, 1000, good), at(1, 40'000, good)}).causes.empty());
}

TEST_CASE("what makes a round too long comes before its draft length") {
    // At batch 1 a round takes so much longer that it runs at 0.9x of plain decoding, and at the others as much.
    const sim::RoundEstimate e = sim::evaluate(sim::compile_round(small_pair()), {3, 1, 1000.0});
    const double excess = (e.autoregressive * (e.accept_length / 0.9) - e.round).value();
    DiagnosisInput input = faulty(small_pair(), {1, 8, 32}, {0, 3}, [&](double, int) { return excess; });
    const Diagnosis found = diagnose(input);
    const auto losing = std::find_if(found.causes.begin(), found.causes.end(),
                                     [](const Cause& cause) { return cause.kind == CauseKind::below_break_even; });
    REQUIRE(losing != found.causes.end());
    CHECK(losing->evidence.find("without what it takes too long it would run at") != std::string::npos);
    CHECK(losing->remedy.find("fewer draft tokens") == std::string::npos);
    CHECK(found.causes.front().is_pattern);
}

TEST_CASE("what the log says of graphs comes first") {
    DiagnosisInput input = faulty(small_pair(), {4}, {0, 3}, [](double, int) { return 0.02; });
    input.settings.graphs = runs::GraphMode::piecewise;
    input.settings.graphs_because = "setting cudagraph_mode=PIECEWISE";
    const Diagnosis found = diagnose(input);
    CHECK(found.causes.front().kind == CauseKind::rounds_not_captured);
    CHECK(found.causes.front().evidence.find("setting cudagraph_mode=PIECEWISE") != std::string::npos);
}

TEST_CASE("the speed-up as it is served is TPOT over TPOT") {
    DiagnosisInput input = faulty(small_pair(), {4}, {0, 3}, [](double, int) { return 0.0; });
    input.plain[0].cell.tpot.add(0.020);
    input.rounds[0].cell.tpot.add(0.016);
    CHECK(diagnose(input).loads[0].served_speedup == Approx(1.25));
}

TEST_CASE("copies of recurrent states read and write them: a fault of that size is once what one copy takes") {
    const sim::RoundSetup setup = pair_setup("mamba2-2.7b", "mamba2-130m", platform("h100-sxm", "cuda-graph"));
    const double bytes = sim::compile_round(setup).memory.target_state.value();
    const double bandwidth = setup.platform.device.bandwidth.value();
    const Diagnosis found = diagnose(faulty(setup, {16, 64, 256}, {0, 1, 3, 5}, [&](double batch, int length) {
        return 2.0 * bytes * batch * (length + 1) / bandwidth;
    }));
    const auto copies = std::find_if(found.causes.begin(), found.causes.end(),
                                     [](const Cause& cause) { return cause.kind == CauseKind::state_copies; });
    REQUIRE(copies != found.causes.end());
    CHECK_THAT(copies->evidence, Catch::Contains("1.0 times which explains 100 %"));
}

}  // namespace diagnosis_test
