// The figures that a diagnosis names: shares and places in what it says of acceptance, what causes account for, lines over
// draft lengths.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include "faulty_rounds.h"
#include "sim/constants.h"
#include "sweeps/diagnosis.h"
#include "sweeps/diagnosis_causes.h"
#include "sweeps/diagnosis_hypotheses.h"

namespace diagnosis_figures_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

/// A thousand rounds, of which reached[i] got as far.
runs::RunCell counted(const std::vector<double>& reached) {
    runs::RunCell cell;
    cell.batch = 1.0;
    cell.draft_tokens = static_cast<int>(reached.size());
    cell.acceptance.drafts = cell.acceptance.drafts_with_positions = 1000.0;
    cell.acceptance.drafted = 1000.0 * static_cast<double>(reached.size());
    for (const double each : reached) {
        cell.acceptance.accepted += each;
    }
    cell.acceptance.reached = reached;
    return cell;
}

std::string said_of(const std::vector<runs::RunCell>& cells) {
    DiagnosisInput input;
    input.accepted = cells;
    return diagnosis::defects_of(input);
}

std::vector<double> seconds_of(const std::vector<DiagnosedPoint>& rounds, CauseKind kind) {
    Diagnosis diagnosis;
    diagnosis.input.rounds = rounds;
    for (const diagnosis::Hypothesis& each : diagnosis::hypotheses_of(diagnosis)) {
        if (each.kind == kind) {
            return each.seconds;
        }
    }
    return {};
}

/// One load as predicted, with plain steps as predicted.
DiagnosisInput one_load() {
    DiagnosisInput input;
    input.rounds = {measured_load(8.0, 3, 1.0)};
    input.plain = {measured_load(8.0, 0, 1.0)};
    return input;
}

}  // namespace

TEST_CASE("what is wrong with an acceptance is told with its shares and positions") {
    using Catch::Contains;
    CHECK_THAT(said_of({counted({220.0, 410.0, 360.0})}),
               Contains("draft 2 is accepted in 41 % of rounds, draft 1 in 22 %: a draft counts"));
    CHECK_THAT(said_of({counted({600.0, 300.0, 340.0})}),
               Contains("draft 3 is accepted in 34 % of rounds, draft 2 in 30 %: a draft counts"));
    CHECK_THAT(said_of({counted({400.0, 296.0})}),
               Contains("draft 2 is accepted in 74 % of the rounds that reach it, the first draft in 40 %"));
    CHECK_THAT(said_of({counted({15.0, 5.0})}), Contains("the first draft is accepted in 1.5 % of rounds"));
    CHECK_THAT(said_of({counted({500.0, 5.0})}),
               Contains("draft 2 is accepted in 1 % of the rounds that reach it, the first draft in 50 % of all: what follows "
                        "the first draft is made from wrong states"));
    CHECK_THAT(
        said_of({counted({600.0, 450.0, 9.0})}),
        Contains("draft 3 is accepted in 2 % of the rounds that reach it, draft 2 in 75 %: what follows draft 2 is made"));
    CHECK_THAT(said_of({accepted(1.0, 3, 4.0)}), Contains("3 draft tokens every draft is accepted"));
    CHECK_THAT(said_of({accepted(1.0, 3, 3.9986)}), Contains("every draft is accepted"));
    CHECK_THAT(said_of({accepted(1.0, 3, 3.997)}), Contains("99.9 % of drafts are accepted"));
    CHECK_THAT(said_of({accepted(1.0, 2, 2.999)}), Contains("every draft is accepted"));  // 99.95 %
    CHECK_THAT(said_of({accepted(1.0, 2, 2.9988)}), Contains("99.9 % of drafts are accepted"));
    CHECK_THAT(said_of({accepted(1.0, 3, 3.7), accepted(1.0, 5, 1.4)}),
               Contains("The first of 3 drafts is accepted in 90 % of rounds, the first of 5 in 40 %"));
}

TEST_CASE("a load is named by what is known of it") {
    CHECK(diagnosis::at(accepted(8.0, 3, 2.0, 4096.0)) == "batch 8, 3 draft tokens, context 4096");
    CHECK(diagnosis::at(accepted(8.0, 0, 1.0)) == "batch 8");
    CHECK(diagnosis::at(accepted(0.0, 1, 1.5)) == "an unknown batch, 1 draft token");
    CHECK(diagnosis::percent(0.255) == "26 %");
}

TEST_CASE("where acceptance is not known the round that exceeds expectation most is in focus, behind any known speed-up") {
    DiagnosisInput input;
    input.rounds = {measured_load(8.0, 3, 1.1), measured_load(8.0, 3, 1.5)};
    input.plain = {measured_load(8.0, 0, 1.0)};
    for (DiagnosedPoint& round : input.rounds) {
        round.cell.stated_length = 0.0;
    }
    CHECK(diagnose(input).focus == 1);
    input.rounds.front().cell.stated_length = 3.0;
    CHECK(diagnose(input).focus == 0);
}

TEST_CASE("a tree's nodes are no draft length, and plain decoding drafts nothing that could fail") {
    for (const int tree : {0, 1}) {
        std::vector<runs::RunCell> cells = {accepted(1.0, 3, 3.7), accepted(1.0, 5, 1.4)};
        cells[static_cast<std::size_t>(tree)].shape = "sglang:3,2,5";
        cells[static_cast<std::size_t>(tree)].depth = 3;
        CHECK(said_of(cells).empty());
    }
    CHECK(said_of({accepted(1.0, 0, 1.0)}).empty());
    CHECK(said_of({accepted(1.0, 3, 0.0)}).empty());
}

TEST_CASE("of several loads the largest contrast is told") {
    const std::string said = said_of(
        {accepted(1.0, 3, 2.0), accepted(2.0, 3, 2.6), accepted(8.0, 3, 1.45), accepted(16.0, 3, 1.3), accepted(32.0, 3, 1.4)});
    CHECK_THAT(said,
               Catch::Contains("With the same 3 draft tokens a round yields 2.60 tokens at batch 2 and 1.30 at batch 16"));
}

TEST_CASE("a defect, and acceptance that falls with the context, account for what they keep from being accepted") {
    DiagnosisInput input = one_load();
    input.rounds.front().cell.stated_length = 1.01;
    input.accepted = {input.rounds.front().cell};
    const Cause* const defect = cause_of(diagnose(input), CauseKind::defect);
    REQUIRE(defect != nullptr);
    const Diagnosis found = diagnose(input);
    CHECK(cause_of(found, CauseKind::defect)->share == Approx(1.0 - 1.01 / 4.0));
    CHECK(cause_of(found, CauseKind::defect)->rank == 2.0);
    input = one_load();
    input.accepted = {accepted(1.0, 3, 2.0, 1000.0), accepted(1.0, 3, 1.4, 8000.0)};
    const Diagnosis contexts = diagnose(input);
    const Cause* const longer = cause_of(contexts, CauseKind::long_contexts);
    REQUIRE(longer != nullptr);
    CHECK(longer->share == Approx(0.3));
    CHECK(longer->rank == Approx(1.3));
    CHECK_THAT(longer->evidence, Catch::Contains("2.00 tokens at 1000 tokens of context and 1.40 at 8000"));
}

TEST_CASE("a log that says that passes run without graphs, or in pieces of them, is believed") {
    DiagnosisInput input = one_load();
    input.rounds.front().cell.round = runs::MeasuredMean::of(1.25 * input.rounds.front().cell.round.mean(), 0.0, 1.0, 1.0);
    for (const runs::GraphMode mode : {runs::GraphMode::none, runs::GraphMode::piecewise}) {
        const bool none = mode == runs::GraphMode::none;
        input.settings.graphs = mode;
        input.settings.graphs_because = "eager mode";
        const Diagnosis found = diagnose(input);
        const Cause* const cause = cause_of(found, CauseKind::rounds_not_captured);
        REQUIRE(cause != nullptr);
        CHECK(cause->share == Approx(0.2));  // a fifth of 1.25 is beyond 1
        CHECK(cause->rank == 1.5);
        CHECK_THAT(cause->evidence, Catch::Contains(none ? "passes run without graphs (\"eager mode\")"
                                                         : "passes run in pieces of graphs (\"eager mode\")"));
        CHECK_THAT(cause->what_to_try(), Catch::Contains(none ? "--enforce-eager" : "whole graphs"));
    }
    input.settings = {};
    input.rounds.front().cell.eager_steps = 30.0;
    input.rounds.front().cell.captured_steps = 10.0;
    CHECK(cause_of(diagnose(input), CauseKind::rounds_not_captured) != nullptr);
    const Diagnosis counted_steps = diagnose(input);
    CHECK(cause_of(counted_steps, CauseKind::rounds_not_captured)->share == 0.5);  // of more than what is beyond the prediction
    input.rounds.front().cell.round = runs::MeasuredMean::of(3.0 * input.rounds.front().cell.round.mean(), 0.0, 1.0, 1.0);
    const Diagnosis slow = diagnose(input);
    CHECK(cause_of(slow, CauseKind::rounds_not_captured)->share == Approx(1.0 - 1.0 / 3.75));
}

TEST_CASE("a round that yields too little loses what its speed-up lacks") {
    DiagnosisInput input = one_load();
    input.rounds.front().cell.stated_length = 1.2;
    const Diagnosis found = diagnose(input);
    const DiagnosedLoad& load = found.loads.front();
    REQUIRE(load.speedup < 1.0);
    REQUIRE(load.ceiling > 1.0);
    const Cause* const cause = cause_of(found, CauseKind::below_break_even);
    REQUIRE(cause != nullptr);
    CHECK(cause->share == Approx(1.0 - 1.2 / load.break_even));
    CHECK(cause->rank == cause->share);
    CHECK_THAT(cause->evidence, Catch::Contains("a round yields 1.20 tokens and takes"));
}

TEST_CASE("prompts take what is predicted of them where no accept length tells a round from a TPOT") {
    DiagnosisInput input = one_load();
    sim::RoundSetup busy = small_pair();
    busy.prompt_tokens = 4000.0;
    busy.output_tokens = 100.0;
    for (DiagnosedPoint* point : {&input.rounds.front(), &input.plain.front()}) {
        point->setup = busy;
        point->cell.round =
            runs::MeasuredMean::of(sim::evaluate(sim::compile_round(busy), point->point).round.value(), 0.0, 1.0, 1.0);
    }
    input.rounds.front().cell.stated_length = 0.0;
    input.rounds.front().cell.tpot.add(input.rounds.front().cell.round.mean());
    const Diagnosis found = diagnose(input);
    const DiagnosedLoad& load = found.loads.front();
    const Seconds prompts = load.parts[static_cast<std::size_t>(RoundPart::prompts)];
    REQUIRE(prompts / load.measured > 0.1);
    const Cause* const cause = cause_of(found, CauseKind::prompts);
    REQUIRE(cause != nullptr);
    CHECK(cause->share == Approx(prompts / load.measured));
    // Likewise where the round itself was not timed, but its TPOT and accept length are known.
    runs::RunCell& cell = input.rounds.front().cell;
    cell.stated_length = 2.0;
    cell.tpot = runs::MeasuredMean::of(0.5 * cell.round.mean(), 0.0, 1.0, 1.0);
    cell.round = {};
    const Diagnosis untimed = diagnose(input);
    REQUIRE(cause_of(untimed, CauseKind::prompts) != nullptr);
    CHECK(cause_of(untimed, CauseKind::prompts)->share == Approx(prompts / load.measured));
}

TEST_CASE("kernels that are launched one by one are counted by operation, whatever a stack launches in graphs") {
    const auto host_of_drafter = [](double factor) {
        DiagnosedPoint point = measured_load(4.0, 3, 1.0);
        point.setup.platform.stack.launching.launch_factor = factor;
        const sim::CompiledRound round = sim::compile_round(point.setup);
        const std::vector<double> seconds = seconds_of({point}, CauseKind::drafter_not_captured);
        REQUIRE(seconds.size() == 1);
        return seconds.front() + sim::evaluate(round, point.point).draft.value();
    };
    DiagnosedPoint point = measured_load(4.0, 3, 1.0);
    point.setup.platform.stack.launching.launch_factor = 1.0;
    const double launches = sim::compile_round(point.setup).pass(sim::PassId::draft).launches;
    CHECK(host_of_drafter(1.0) == Approx(3.0 * launches * sim::eager_kernels * sim::eager_kernel));
    CHECK(host_of_drafter(2.0) == Approx(host_of_drafter(1.0)));
}

TEST_CASE("slots one after the other take as many rounds of one sequence") {
    sim::RoundSetup recurrent = pair_setup("mamba2-2.7b", "mamba2-130m", platform("strix-halo", "llama.cpp"));
    recurrent.platform.stack.states.recurrent_passes_apart = 0.5;
    DiagnosedPoint point{{}, recurrent, {3, 4.0, 1000.0}};
    point.cell.batch = 4.0;
    point.cell.draft_tokens = 3;
    const sim::CompiledRound round = sim::compile_round(recurrent);
    const auto time = [&](double batch) { return sim::evaluate(round, {3, batch, 1000.0}).round.value(); };
    REQUIRE(4.0 * time(1.0) > time(4.0));
    CHECK(seconds_of({point}, CauseKind::slots_apart) == std::vector<double>{4.0 * time(1.0) - time(4.0)});
}

TEST_CASE("prompts are told apart by how long they are beside their answers") {
    const auto suspected = [](double first_prompt, double first_answer, double prompt, double answer) {
        std::vector<DiagnosedPoint> rounds = {measured_load(4.0, 3, 1.0), measured_load(16.0, 5, 1.0)};
        const double prompts[] = {first_prompt, prompt}, answers[] = {first_answer, answer};
        for (std::size_t i = 0; i < 2; ++i) {
            rounds[i].cell.prompt_tokens = prompts[i];
            rounds[i].cell.output_tokens = answers[i];
            rounds[i].cell.round = {};
            rounds[i].cell.stated_length = 2.0;
            rounds[i].cell.tpot.add(0.01);
        }
        return !seconds_of(rounds, CauseKind::prompts_cost_more).empty();
    };
    CHECK(suspected(600.0, 300.0, 1200.0, 300.0));
    CHECK(suspected(600.0, 300.0, 600.0, 100.0));
    CHECK_FALSE(suspected(600.0, 300.0, 1200.0, 600.0));
    CHECK_FALSE(suspected(600.0, 300.0, 630.0, 300.0));  // less than a tenth
    CHECK(suspected(600.0, 1.0, 600.0, 2.0));
    CHECK(suspected(1.0, 300.0, 2.0, 300.0));
    CHECK_FALSE(suspected(600.0, 0.0, 1200.0, 0.0));  // answers of nobody knows which length
    // Rounds that were timed by themselves have no prompts in them.
    std::vector<DiagnosedPoint> timed = {measured_load(4.0, 3, 1.0), measured_load(16.0, 5, 1.0)};
    timed[0].cell.prompt_tokens = timed[1].cell.prompt_tokens = 600.0;
    timed[0].cell.output_tokens = 100.0;
    timed[1].cell.output_tokens = 300.0;
    CHECK(seconds_of(timed, CauseKind::prompts_cost_more).empty());
}

TEST_CASE("experts and collectives are told apart from the phases that they lie in, and all parts sum to the round") {
    sim::RoundSetup mixture = pair_setup("mixtral-8x7b", "mixtral-8x7b", platform("h100-sxm", "vllm", 4.0));
    mixture.drafter = sim::NgramDrafter{};
    DiagnosisInput input;
    input.rounds = {{{}, mixture, {4, 1.0, 1000.0}}};
    input.rounds.front().cell.batch = 1.0;
    input.rounds.front().cell.draft_tokens = 4;
    const sim::CompiledRound round = sim::compile_round(mixture);
    const sim::RoundEstimate estimate = sim::evaluate(round, {4, 1.0, 1000.0});
    input.rounds.front().cell.round.add(estimate.round.value());
    const DiagnosedLoad load = diagnose(input).loads.front();
    Seconds sum, experts, collectives, plain_experts;
    for (const Seconds part : load.parts) {
        CHECK(part >= Seconds(0.0));
        sum += part;
    }
    for (const sim::ExplainedPass& pass : sim::explain(round, {0, 1.0, 1000.0})) {
        for (const sim::OperationEstimate& operation : pass.operations) {
            plain_experts += operation.kind == sim::OperationKind::experts ? operation.time : Seconds(0.0);
        }
    }
    for (const sim::ExplainedPass& pass : sim::explain(round, {4, 1.0, 1000.0})) {
        const bool verifies = pass.phase.starts_with("verify");
        for (const sim::OperationEstimate& operation : verifies ? pass.operations : std::vector<sim::OperationEstimate>{}) {
            experts += operation.kind == sim::OperationKind::experts ? operation.time * pass.runs : Seconds(0.0);
            collectives += operation.kind == sim::OperationKind::collective ? operation.time * pass.runs : Seconds(0.0);
        }
    }
    CHECK(sum.value() == Approx(estimate.round.value()));
    CHECK(load.parts[static_cast<std::size_t>(RoundPart::experts)].value() == Approx(experts.value()));
    CHECK(load.parts[static_cast<std::size_t>(RoundPart::collectives)].value() == Approx(collectives.value()));
    CHECK(load.parts[static_cast<std::size_t>(RoundPart::verify)].value() ==
          Approx((estimate.verify - experts - collectives).value()));
    // A plain step reads experts, too: what a round reads more is its own.
    const Diagnosis found = diagnose(input);
    const Cause* const cause = cause_of(found, CauseKind::experts);
    REQUIRE(cause != nullptr);
    CHECK(cause->share == Approx((experts - plain_experts) / estimate.round));
    CHECK_THAT(cause->evidence, Catch::Contains("Verifying 5 tokens of 1 sequences reads more experts than a plain step"));
}

TEST_CASE("all-reduces of a drafter count once for each of its passes") {
    const sim::RoundSetup spread = pair_setup("llama-3-70b", "llama-3.2-1b", platform("h100-sxm", "vllm", 8.0));
    Seconds collectives;
    double most_runs = 0.0;
    for (const sim::ExplainedPass& pass : sim::explain(sim::compile_round(spread), {5, 4.0, 1000.0})) {
        const bool counts = pass.phase.starts_with("draft") || pass.phase.starts_with("verify");
        for (const sim::OperationEstimate& operation : counts ? pass.operations : std::vector<sim::OperationEstimate>{}) {
            collectives += operation.kind == sim::OperationKind::collective ? operation.time * pass.runs : Seconds(0.0);
        }
        most_runs = std::max(most_runs, pass.runs);
    }
    REQUIRE(most_runs > 1.0);
    const RoundParts parts = diagnose(as_predicted(spread, {5, 4.0, 1000.0})).loads.front().parts;
    CHECK(parts[static_cast<std::size_t>(RoundPart::collectives)].value() == Approx(collectives.value()));
}

TEST_CASE("the line over draft lengths: its height and its slope, as measured and as predicted") {
    // Two milliseconds more in each round, and half of one for each draft.
    const Diagnosis found =
        diagnose(faulty(small_pair(), {8.0}, {0, 1, 3, 6}, [](double, int length) { return 2e-3 + 0.5e-3 * length; }));
    REQUIRE(found.laws.size() == 1);
    const DraftLaw& law = found.laws.front();
    CHECK(law.batch == 8.0);
    CHECK(law.lengths == 3);
    CHECK((law.intercept - law.predicted_intercept).value() == Approx(2e-3));
    CHECK((law.slope - law.predicted_slope).value() == Approx(0.5e-3));
    const auto predicted = [&](int drafts) {
        return sim::evaluate(sim::compile_round(small_pair()), {drafts, 8.0, 1000.0}).round.value();
    };
    CHECK(law.predicted_slope.value() == Approx((predicted(6) - predicted(1)) / 5.0).epsilon(0.02));
    CHECK(law.predicted_intercept.value() == Approx(predicted(1) - law.predicted_slope.value()).epsilon(0.02));
    // With one length there is no line.
    CHECK(diagnose(faulty(small_pair(), {8.0}, {0, 3}, [](double, int) { return 0.0; })).laws.empty());
}

}  // namespace diagnosis_figures_test
