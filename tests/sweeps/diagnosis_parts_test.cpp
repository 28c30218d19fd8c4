// The parts of a diagnosis, one by one: fits of patterns, what each assumption adds, predicted causes.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "faulty_rounds.h"
#include "setups.h"
#include "sweeps/diagnosis.h"
#include "sweeps/diagnosis_causes.h"
#include "sweeps/diagnosis_fit.h"
#include "sweeps/diagnosis_hypotheses.h"
#include "text/number_text.h"

namespace diagnosis_parts_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

using diagnosis::Pattern;

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

TEST_CASE("a load's break-even, speed-up and ceiling are in plain steps") {
    DiagnosisInput input;
    input.rounds = {measured_load(8.0, 3, 1.0), measured_load(8.0, 5, 1.0)};
    input.plain = {measured_load(8.0, 0, 2.0)};
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
    input.plain[0].cell.tpot = {};
    CHECK(diagnose(input).loads[0].served_speedup == 0.0);
    CHECK(found.focus == (found.loads[1].speedup < found.loads[0].speedup ? 1U : 0U));
}

TEST_CASE("a drafter that idles costs what steps take longer with it") {
    DiagnosisInput input;
    input.plain = {measured_load(2.0, 0, 1.0), measured_load(64.0, 0, 1.0)};
    const auto share = [&](double factor) {
        input.idle = {measured_load(2.0, 0, 1.0), measured_load(64.0, 0, factor)};
        const Diagnosis found = diagnose(input);
        return found.causes.empty() ? 0.0 : found.causes.front().share;
    };
    CHECK(share(1.25) == Approx(0.2));
    CHECK(share(1.03) == Approx(0.03 / 1.03));
    CHECK(share(1.015) == 0.0);
}

TEST_CASE("of loads that lose as much the first is in focus") {
    DiagnosisInput input;
    input.rounds = {measured_load(8.0, 3, 1.5), measured_load(8.0, 3, 1.5)};
    input.plain = {measured_load(8.0, 0, 1.0)};
    CHECK(diagnose(input).focus == 0);
}

TEST_CASE("a dense model on one device has no time of experts or collectives") {
    DiagnosisInput input;
    input.rounds = {measured_load(8.0, 3, 1.0)};
    const RoundParts parts = diagnose(input).loads.front().parts;
    CHECK(parts[static_cast<std::size_t>(RoundPart::experts)] == Seconds(0.0));
    CHECK(parts[static_cast<std::size_t>(RoundPart::collectives)] == Seconds(0.0));
}

TEST_CASE("a log of steps without a graph is evidence, with their share") {
    DiagnosisInput input;
    input.rounds = {measured_load(8.0, 3, 1.0)};
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

namespace {

std::map<CauseKind, diagnosis::Hypothesis> hypotheses(const std::vector<DiagnosedPoint>& rounds) {
    Diagnosis diagnosis;
    diagnosis.input.rounds = rounds;
    std::map<CauseKind, diagnosis::Hypothesis> found;
    for (diagnosis::Hypothesis& each : diagnosis::hypotheses_of(diagnosis)) {
        found.emplace(each.kind, std::move(each));
    }
    return found;
}

}  // namespace

TEST_CASE("rounds that the log says were captured are not suspected of missing graphs") {
    std::vector<DiagnosedPoint> rounds = {measured_load(3.0, 3, 1.0, 1000.0), measured_load(16.0, 5, 1.0, 4000.0)};
    rounds.front().cell.captured_steps = 160.0;
    CHECK(hypotheses(rounds).contains(CauseKind::rounds_not_captured));  // the log says nothing of the other
    rounds.back().cell.captured_steps = 80.0;
    CHECK_FALSE(hypotheses(rounds).contains(CauseKind::rounds_not_captured));
    CHECK(hypotheses(rounds).contains(CauseKind::drafter_not_captured));
    rounds.back().cell.eager_steps = 40.0;
    CHECK(hypotheses(rounds).contains(CauseKind::rounds_not_captured));
}

TEST_CASE("advice is in the words of the deployment's engine, and of sizes of graphs only where it captures such") {
    const std::map<std::string, std::string> titles = {
        {"vllm", "vLLM"}, {"sglang", "SGLang"}, {"tensorrt-llm", "TensorRT-LLM"}, {"llama.cpp", "llama"}};
    const auto of = [](const std::string& device_name, const std::string& stack_name) {
        std::vector<DiagnosedPoint> rounds = {measured_load(3.0, 3, 1.0, 1000.0), measured_load(16.0, 5, 1.0, 4000.0),
                                              measured_load(64.0, 5, 1.0, 4000.0)};
        for (DiagnosedPoint& point : rounds) {
            point.setup.platform = platform(device_name, stack_name);
        }
        return hypotheses(rounds);
    };
    for (const auto& [engine, title] : titles) {
        const auto found = of("h100-sxm", engine);
        CHECK(found.contains(CauseKind::padding) == (engine != "llama.cpp"));
        CHECK(found.contains(CauseKind::rounds_not_captured) == (engine != "llama.cpp"));
        for (const auto& [kind, hypothesis] : found) {
            for (const auto& [other, name] : titles) {
                INFO(engine << ": " << name_of(kind) << ": " << hypothesis.remedy);
                // What llama.cpp alone has, slots that are decoded one after the other, is read off its stack.
                CHECK((other == engine || kind == CauseKind::slots_apart || hypothesis.remedy.find(name) == std::string::npos));
            }
        }
    }
    CHECK_FALSE(of("m3-ultra", "mlx").contains(CauseKind::padding));
    CHECK(of("h100-sxm", "cuda-graph").at(CauseKind::padding).remedy.find("SGLang --cuda-graph-max-bs") != std::string::npos);
}

TEST_CASE("plain decoding that was not measured is predicted in the mode of the log, and said to be predicted") {
    DiagnosisInput input;
    input.rounds = {measured_load(8.0, 3, 4.0)};
    const DiagnosedLoad graphs = diagnose(input).loads.front();
    input.settings.graphs = runs::GraphMode::none;
    const Diagnosis found = diagnose(input);
    const DiagnosedLoad& eager = found.loads.front();
    CHECK(eager.plain_predicted > graphs.plain_predicted);
    // The device waits for launches, which take longer than the step.
    const sim::CompiledRound round = sim::compile_round(small_pair());
    const Seconds launches = diagnosis::launched_one_by_one(round.pass(sim::PassId::plain), small_pair().platform);
    CHECK(eager.plain_predicted.value() == Approx(launches.value()));
    CHECK(eager.plain_expected == graphs.plain_predicted);  // as a round without what it takes too long, in graphs
    CHECK(eager.expected == graphs.expected);
    CHECK(eager.speedup == Approx(eager.accept_length * (eager.plain_predicted / eager.measured)));
    for (const Cause& cause : found.causes) {
        const bool of_plain = cause.kind == CauseKind::ceiling || cause.kind == CauseKind::below_break_even;
        CHECK(of_plain <= (cause.evidence.find("predicted plain steps") != std::string::npos));
    }
    // Between the steps of a busy server prompts are read, too, however these are launched.
    sim::RoundSetup busy = small_pair();
    busy.prompt_tokens = 4000.0;
    busy.output_tokens = 100.0;
    DiagnosisInput with_prompts = input;
    with_prompts.rounds.front().setup = busy;
    const Seconds prompts = sim::evaluate(sim::compile_round(busy), {0, 8.0, 1000.0}).prompts;
    REQUIRE(prompts > Seconds(0.0));
    CHECK(diagnose(with_prompts).loads.front().plain_predicted.value() == Approx((launches + prompts).value()));
    input.plain = {measured_load(8.0, 0, 1.0)};
    CHECK(diagnose(input).loads.front().plain_measured == graphs.plain_predicted);
    CHECK(diagnose(input).loads.front().speedup == Approx(graphs.speedup));
}

TEST_CASE("what each assumption adds to a load: rows, sequences, passes, cached tokens, prompts") {
    std::vector<DiagnosedPoint> rounds = {measured_load(3.0, 3, 1.0, 1000.0), measured_load(16.0, 5, 1.0, 4000.0)};
    for (DiagnosedPoint& point : rounds) {
        point.cell.prompt_tokens = 600.0;
        point.cell.output_tokens = point.cell.batch == 3.0 ? 100.0 : 300.0;
        point.cell.round = {};
        point.cell.stated_length = 2.0;
        point.cell.tpot.add(0.01);
    }
    const auto found = hypotheses(rounds);
    const auto seconds = [&](CauseKind kind) { return found.at(kind).seconds; };
    CHECK(seconds(CauseKind::rows_cost_more) == std::vector<double>{9.0, 80.0});
    CHECK(seconds(CauseKind::host_per_sequence) == std::vector<double>{3.0, 16.0});
    CHECK(seconds(CauseKind::host_per_round) == std::vector<double>{1.0, 1.0});
    CHECK(seconds(CauseKind::draft_passes) == std::vector<double>{3.0, 5.0});
    CHECK(seconds(CauseKind::verify_attention) == std::vector<double>{3000.0, 64'000.0});
    // 600 tokens for each request, of which 2 · batch / answer end in a round.
    CHECK(seconds(CauseKind::prompts_cost_more)[0] == Approx(600.0 * 3 * 2 / 100));
    CHECK(seconds(CauseKind::prompts_cost_more)[1] == Approx(600.0 * 16 * 2 / 300));
    CHECK(found.count(CauseKind::slots_apart) == 0);
    CHECK(found.count(CauseKind::state_copies) == 0);
    for (const auto& [kind, each] : found) {
        // Where only the pattern is known, any size is plausible.
        CHECK(each.sized() == (each.high > 0.0));
    }
}

TEST_CASE("rows are padded to 1, 2, 4 and then each eighth, up to 512") {
    const sim::CompiledRound round = sim::compile_round(small_pair());
    // 3, 5, 12 and 20 rows run as 4, 8, 16 and 24; 4 and 64 as they are, and 516 outside of graphs.
    const std::vector<std::pair<double, int>> loads = {{1, 2}, {1, 4}, {3, 3}, {5, 3}, {1, 3}, {16, 3}, {129, 3}};
    const double padded[] = {4.0 / 3, 8.0 / 5, 4.0, 6.0, 1.0, 16.0, 129.0};
    std::vector<DiagnosedPoint> rounds;
    for (const auto& [batch, length] : loads) {
        rounds.push_back(measured_load(batch, length, 1.0));
    }
    const std::vector<double> seconds = hypotheses(rounds).at(CauseKind::padding).seconds;
    for (std::size_t i = 0; i < loads.size(); ++i) {
        CAPTURE(i);
        const auto time = [&](double batch) { return sim::evaluate(round, {loads[i].second, batch, 1000.0}).round.value(); };
        CHECK(seconds[i] == Approx(time(padded[i]) - time(loads[i].first)).margin(1e-12));
    }
    CHECK(seconds[2] > 0.0);
}

TEST_CASE("what is the same in all loads tells nothing apart") {
    const auto kinds = [](const std::vector<DiagnosedPoint>& rounds, CauseKind kind) {
        return hypotheses(rounds).count(kind) == 1;
    };
    const std::vector<DiagnosedPoint> one_length = {measured_load(4.0, 3, 1.0), measured_load(16.0, 3, 1.0)};
    const std::vector<DiagnosedPoint> one_batch = {measured_load(4.0, 3, 1.0), measured_load(4.0, 5, 1.0)};
    const std::vector<DiagnosedPoint> neither = {measured_load(4.0, 3, 1.0), measured_load(16.0, 5, 1.0)};
    CHECK_FALSE(kinds(one_length, CauseKind::draft_passes));
    CHECK(kinds(one_batch, CauseKind::draft_passes));
    CHECK_FALSE(kinds(one_batch, CauseKind::host_per_sequence));
    CHECK_FALSE(kinds(one_length, CauseKind::host_per_sequence));  // grows as rows do
    CHECK(kinds(one_length, CauseKind::rows_cost_more));
    CHECK(kinds(one_batch, CauseKind::rows_cost_more));
    CHECK_FALSE(kinds({measured_load(4.0, 3, 1.0)}, CauseKind::rows_cost_more));
    CHECK(kinds(neither, CauseKind::host_per_sequence));
    CHECK_FALSE(kinds(neither, CauseKind::verify_attention));  // one context
    CHECK(kinds({measured_load(4.0, 3, 1.0, 1000.0), measured_load(4.0, 3, 1.0, 1200.0)}, CauseKind::verify_attention));
    CHECK_FALSE(kinds({measured_load(4.0, 3, 1.0, 1000.0), measured_load(4.0, 3, 1.0, 1090.0)}, CauseKind::verify_attention));
    CHECK_FALSE(kinds({measured_load(4.0, 3, 1.0, 1000.0), measured_load(4.0, 3, 1.0, 0.0)}, CauseKind::verify_attention));
    CHECK(kinds(neither, CauseKind::host_per_round));
}

TEST_CASE("sizes that are known are believed from a part to a multiple") {
    // Kernels launched one by one take 5 to 7 us each, about six an operation, and versions of an engine differ; padding and
    // slots are arithmetic, and nearly exact; a copy of states may be a third of what is written, or go back and forth.
    sim::RoundSetup recurrent = pair_setup("mamba2-2.7b", "mamba2-130m", platform("strix-halo", "llama.cpp"));
    recurrent.platform.stack.states.recurrent_passes_apart = 1.0;
    DiagnosedPoint point{{}, recurrent, {3, 3.0, 1000.0}};
    point.cell.batch = 3.0;
    point.cell.draft_tokens = 3;
    const auto found = hypotheses({point}), dense = hypotheses({measured_load(3.0, 3, 1.0)});
    const auto range = [&](CauseKind kind) {
        const auto& of = dense.count(kind) == 1 ? dense : found;
        REQUIRE(of.count(kind) == 1);
        return std::pair{of.at(kind).low, of.at(kind).high};
    };
    CHECK(range(CauseKind::drafter_not_captured) == std::pair{0.25, 2.0});
    CHECK(range(CauseKind::rounds_not_captured) == std::pair{0.2, 1.5});
    CHECK(range(CauseKind::padding) == std::pair{0.6, 1.6});
    CHECK(range(CauseKind::state_copies) == std::pair{0.25, 3.0});
    CHECK(range(CauseKind::host_per_round) == std::pair{0.0, 0.0});
    // Three verified states more, read and written by four tokens of three sequences.
    const sim::CompiledRound round = sim::compile_round(recurrent);
    CHECK(found.at(CauseKind::state_copies).seconds.front() ==
          Approx(2.0 * round.memory.target_state.value() * 3 * 4 / recurrent.platform.device.bandwidth.value()));
}

TEST_CASE("a round that could not pay as predicted has a drafter that is too slow, whatever else it takes too long") {
    // A model drafts for one that is a sixth of it: for at most four tokens a round takes the time of many of them.
    const sim::RoundSetup hopeless = pair_setup("llama-3.2-1b", "llama-3-8b", platform("h100-sxm", "cuda-graph"));
    for (const double factor : {1.0, 1.25}) {
        const Diagnosis found = diagnose(as_predicted(hopeless, {3, 8.0, 1000.0}, factor));
        const Cause* ceiling = cause_of(found, CauseKind::ceiling);
        REQUIRE(ceiling != nullptr);
        CHECK(found.loads.front().ceiling < 1.0);
        CHECK(ceiling->share == Approx(1.0 - found.loads.front().ceiling));
        CHECK(ceiling->rank == ceiling->share);
        CHECK_THAT(ceiling->remedy, Catch::Contains("no better drafter helps here"));
        CHECK_THAT(ceiling->evidence, !Catch::Contains("Without what it takes too long"));
    }
}

TEST_CASE("a round that would pay without its excess ranks below what explains it") {
    const sim::RoundEstimate e = sim::evaluate(sim::compile_round(small_pair()), {3, 8.0, 1000.0});
    // 4.5 plain steps for at most 4 tokens.
    const DiagnosisInput input = as_predicted(small_pair(), {3, 8.0, 1000.0}, 4.5 * (e.autoregressive / e.round));
    const Diagnosis found = diagnose(input);
    const Cause* ceiling = cause_of(found, CauseKind::ceiling);
    REQUIRE(ceiling != nullptr);
    CHECK(ceiling->share == Approx(1.0 - 4.0 / 4.5));
    CHECK_THAT(ceiling->remedy, Catch::Contains("first what makes the round too long"));
    double best = 0.0;
    for (const Cause& cause : found.causes) {
        best = cause.is_pattern ? std::max(best, cause.rank) : best;
    }
    REQUIRE(best > 0.0);
    CHECK(ceiling->rank == Approx(std::min(1.0 - 4.0 / 4.5, 0.9 * best)));
    CHECK(ceiling->rank < best);
}

TEST_CASE("a drafter that takes the room of requests is told by how many") {
    const sim::RoundSetup large = pair_setup("llama-3-8b", "llama-3-8b", platform("h100-sxm", "cuda-graph"));
    const sim::CompiledRound round = sim::compile_round(large);
    const auto held = [&](int speculation) {
        double batch = 1.0;
        while (sim::evaluate(round, {speculation, batch + 1.0, 8000.0}).fits) {
            ++batch;
        }
        return batch;
    };
    const double with = held(3), without = held(0);
    REQUIRE(with < 0.9 * without);
    const Diagnosis found = diagnose(as_predicted(large, {3, 2.0 * with, 8000.0}));
    const Cause* lost = cause_of(found, CauseKind::cache_lost);
    REQUIRE(lost != nullptr);
    CHECK(lost->share == Approx(0.5));
    CHECK_THAT(lost->evidence,
               Catch::Contains(fmt::format("memory holds {:g} sequences of 8000 tokens, without it {:g}", with, without)));
    CHECK(cause_of(diagnose(as_predicted(large, {3, with, 8000.0})), CauseKind::cache_lost) == nullptr);
}

TEST_CASE("predicted host time of the drafter's passes is a cause, pass by pass") {
    sim::RoundSetup slow = small_pair();
    slow.platform.stack.passes.host_per_draft_pass = Seconds(2020e-6);  // 20 us are a graph's
    const DiagnosisInput input = as_predicted(slow, {5, 4.0, 1000.0});
    const Diagnosis found = diagnose(input);
    const Cause* host = cause_of(found, CauseKind::drafter_not_captured);
    REQUIRE(host != nullptr);
    CHECK_FALSE(host->beyond_prediction);
    CHECK(host->share == Approx(5 * 2e-3 / input.rounds.front().cell.round.mean()));
    CHECK_THAT(host->evidence, Catch::Contains("10.0 ms are host time of 5 passes of the drafter, 2.00 ms each"));
    slow.platform.stack.passes.host_per_draft_pass = Seconds(20e-6);
    CHECK(cause_of(diagnose(as_predicted(slow, {5, 4.0, 1000.0})), CauseKind::drafter_not_captured) == nullptr);
}

TEST_CASE("prompts of others are what TPOT times accept length exceeds a round by") {
    DiagnosisInput input = as_predicted(small_pair(), {3, 8.0, 1000.0});
    runs::RunCell& cell = input.rounds.front().cell;
    cell.stated_length = 2.5;
    cell.tpot.add(1.2 * cell.round.mean() / 2.5);
    const Diagnosis found = diagnose(input);
    const Cause* prompts = cause_of(found, CauseKind::prompts);
    REQUIRE(prompts != nullptr);
    CHECK(prompts->share == Approx(0.2 / 1.2));
    // Beyond 1.3 rounds the round is taken from TPOT; what lies between is still told beside a round of decoding.
    cell.tpot = {};
    cell.tpot.add(5.0 * cell.round.mean() / 2.5);
    const Diagnosis busy = diagnose(input);
    const Cause* more = cause_of(busy, CauseKind::prompts);
    REQUIRE(more != nullptr);
    CHECK(more->share == Approx(0.8));
    CHECK(more->evidence.find("(" + text_of(Seconds(5.0 * cell.round.mean())) + ") is " +
                              text_of(Seconds(4.0 * cell.round.mean())) + " longer than a round of decoding (" +
                              text_of(Seconds(cell.round.mean())) + ")") != std::string::npos);
    cell.tpot = {};
    cell.tpot.add(1.09 * cell.round.mean() / 2.5);  // under a tenth
    CHECK(cause_of(diagnose(input), CauseKind::prompts) == nullptr);
}

TEST_CASE("a drafter on all ranks waits for all-reduces that it would not need on one") {
    sim::RoundSetup eight = pair_setup("llama-3-70b", "llama-3.2-1b", platform("h100-sxm", "vllm", 8.0));
    const DiagnosisInput input = as_predicted(eight, {5, 4.0, 1000.0});
    const Diagnosis found = diagnose(input);
    const double all = sim::evaluate(sim::compile_round(eight), {5, 4.0, 1000.0}).round.value();
    eight.platform.parallel.draft_tensor = 1.0;
    const double one = sim::evaluate(sim::compile_round(eight), {5, 4.0, 1000.0}).round.value();
    const Cause* ranks = cause_of(found, CauseKind::drafter_on_all_ranks);
    REQUIRE((ranks != nullptr) == (one < 0.97 * all));
    if (ranks != nullptr) {
        CHECK(ranks->share == Approx(1.0 - one / all));
    }
}

TEST_CASE("a run can be diagnosed with rounds, or with idle steps beside plain ones") {
    const DiagnosedPoint round = measured_load(4.0, 3, 1.0), plain = measured_load(4.0, 0, 1.0);
    const auto possible = [](std::vector<DiagnosedPoint> rounds, std::vector<DiagnosedPoint> idle,
                             std::vector<DiagnosedPoint> plain_steps) {
        DiagnosisInput input;
        input.rounds = std::move(rounds);
        input.idle = std::move(idle);
        input.plain = std::move(plain_steps);
        return problems_of(input).empty();
    };
    CHECK(possible({round}, {}, {}));
    CHECK(possible({}, {plain}, {plain}));
    CHECK_FALSE(possible({}, {plain}, {}));
    CHECK_FALSE(possible({}, {}, {plain}));
}

TEST_CASE("a round whose accept length is not known has no speed-up") {
    DiagnosisInput input = as_predicted(small_pair(), {3, 8.0, 1000.0});
    input.rounds.front().cell.stated_length = 0.0;
    const Diagnosis found = diagnose(input);
    CHECK(found.loads.front().speedup == 0.0);
    CHECK(cause_of(found, CauseKind::below_break_even) == nullptr);
}

}  // namespace diagnosis_parts_test
