// Exported files obey the rules of what reads them, which are written down here a second time: vLLM's pull request 48944
// (utils.py), SGLang's dspark_sps.py, and for times the cost model itself.
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "engines/export.h"
#include "engines/flag_plan.h"
#include "engines/lint.h"
#include "engines/measurement_commands.h"
#include "recommendations.h"
#include "text/input_error.h"

namespace export_test {

using namespace treeline;
using namespace treeline::engines;
using namespace treeline::testing;

namespace {

using Json = nlohmann::json;

struct Case {
    sweeps::Recommendation recommendation =
        recommendation_of(sim::OneLayerDrafter::published_eagle3(), 3, schedule_of({{1, 4}, {33, 0}}, 256));
    sweeps::Workload workload;

    Case() {
        recommendation.variants[0].setup.speculations = sim::chains_up_to(8);
        recommendation.candidates[0].accept_length = 2.5;
        workload.speculations = sim::chains_up_to(8);
        workload.traffic.points = {{1, 500, 0.25}, {64, 500, 0.25}, {1, 16000, 0.25}, {64, 16000, 0.25}};
    }
    [[nodiscard]] std::string text(ExportKind kind) const { return export_recommendation(kind, recommendation, workload).text; }
};

}  // namespace

TEST_CASE("lengths by batch and context are a grid without gaps") {
    const Json config = Json::parse(Case().text(ExportKind::vllm_batch_context));
    std::map<std::pair<int, int>, std::vector<std::vector<int>>> by_batch;
    for (const Json& entry : config["num_speculative_tokens_per_batch_size"]) {
        const auto five = entry.get<std::vector<int>>();
        REQUIRE(five.size() == 5);
        CHECK(five[4] <= config["num_speculative_tokens"].get<int>());
        by_batch[{five[0], five[1]}].push_back(five);
    }
    int next = 1;
    for (const auto& [batches, entries] : by_batch) {
        CHECK(batches.first == next);
        next = batches.second + 1;
        int context = 1;
        for (const std::vector<int>& entry : entries) {
            CHECK(entry[2] == context);
            context = entry[3] + 1;
        }
        CHECK(entries.size() == 2);
    }
}

TEST_CASE("a file of times for one engine is refused where another one was priced") {
    const std::map<ExportKind, std::string> reads = {
        {ExportKind::sglang_sps, "sglang"}, {ExportKind::sglang_sps_model, "sglang"}, {ExportKind::vllm_batch_context, "vllm"}};
    for (const auto& [kind, reader] : reads) {
        for (const std::string engine : {"vllm", "sglang", ""}) {
            Case example;
            example.recommendation.variants[0].setup.platform.stack.engine = engine;
            if (engine.empty() || engine == reader) {
                CHECK_NOTHROW(example.text(kind));
            } else {
                CHECK_THROWS_WITH(example.text(kind), Catch::Contains("--engine " + reader + " prices its own"));
            }
        }
    }
}

TEST_CASE("SGLang's cost tables say what the model says") {
    const Case example;
    const sim::CompiledRound round = sim::compile_round(example.recommendation.variants[0].setup);
    const double context = 0.5 * (500 + 16000);
    const Json table = Json::parse(example.text(ExportKind::sglang_sps));
    const auto tokens = table["sample_batch_tokens"].get<std::vector<int>>();
    const auto rates = table["sample_steps_per_sec"].get<std::vector<double>>();
    REQUIRE(tokens.size() == rates.size());
    CHECK(table["max_batch_tokens"].get<int>() == tokens.back());
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        CHECK(rates[i] == Approx(1.0 / sim::evaluate(round, {3, tokens[i] / 4.0, context}).round.value()).epsilon(1e-3));
        CHECK((i == 0 || tokens[i] > tokens[i - 1]));
    }
    const Json sums = Json::parse(example.text(ExportKind::sglang_sps_model));
    const auto requests = sums["bs_probes"].get<std::vector<int>>(), all = sums["m_probes"].get<std::vector<int>>();
    const auto alpha = sums["alpha_seconds"].get<std::vector<double>>(),
               theta = sums["theta_seconds"].get<std::vector<double>>();
    REQUIRE(requests.size() == alpha.size());
    REQUIRE(all.size() == theta.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
        for (std::size_t j = 0; j < all.size(); ++j) {
            const double length = static_cast<double>(all[j]) / requests[i] - 1.0;
            if (length == 3.0) {
                const double step = sim::evaluate(round, {3, static_cast<double>(requests[i]), context}).round.value();
                CHECK(sums["bias_seconds"].get<double>() + alpha[i] + theta[j] == Approx(step).epsilon(0.15));
            }
        }
    }
}

TEST_CASE("an exported cost table is clean to lint, and known from the version on that reads it") {
    const auto findings_of = [](const std::string& text, const std::string& engine) {
        return lint(text, find_engine(engine), [](const std::string&) { return std::nullopt; }).findings;
    };
    for (const ExportKind kind : {ExportKind::sglang_sps, ExportKind::sglang_sps_model}) {
        const std::string text = Case().text(kind);
        CHECK(findings_of(text, "sglang@0.5.23").empty());
        CHECK(findings_of(text, "sglang@0.5.11").size() == 1);
        CHECK(lint(text, std::nullopt, [](const std::string&) { return std::nullopt; }).engine.name == EngineName::sglang);
    }
}

TEST_CASE("what cannot be exported is a sentence") {
    Case plain;
    plain.recommendation.speculate = false;
    CHECK_THROWS_WITH(plain.text(ExportKind::sglang_sps), Catch::Contains("does not speculate"));
    Case other;
    other.recommendation.variants[0].setup.drafter = sim::SelfDrafter{};
    CHECK_THROWS_AS(other.text(ExportKind::aisimulate), text::InputError);
}

TEST_CASE("a check measures the server with the drafter and the one without, and no result replaces another") {
    // vllm/benchmarks/serve.py opens its result with mode "w" unless --append-result.
    const auto results_of = [](const std::string& text, const std::string& before, const std::string& after) {
        std::vector<std::string> results;
        for (std::size_t at = text.find(before); at != std::string::npos; at = text.find(before, at + 1)) {
            const std::size_t begin = at + before.size();
            results.push_back(text.substr(begin, text.find(after, begin) - begin));
        }
        return results;
    };
    const std::vector<std::string> expected = {"plain-1", "plain-64", "drafts-1", "drafts-64"};
    const std::string vllm = Case().text(ExportKind::check_vllm), guidellm = Case().text(ExportKind::check_guidellm),
                      aiperf = Case().text(ExportKind::check_aiperf);
    CHECK(results_of(vllm, "--result-filename ", ".json") == expected);
    CHECK(results_of(guidellm, "kind=json,path=", ".json") == expected);
    CHECK(results_of(aiperf, "--artifact-dir ", "\n") == expected);
    CHECK(vllm.find("--max-concurrency 64 --num-prompts 512 --ignore-eos") != std::string::npos);
    CHECK(guidellm.find("kind=concurrent,streams=64 --constraint kind=max_requests,count=512") != std::string::npos);
    CHECK(aiperf.find("--concurrency 64 --request-count 512") != std::string::npos);
    CHECK(aiperf.find("ignore_eos:true") != std::string::npos);
}

TEST_CASE("requests that arrive at a rate are checked at that rate") {
    Case example;
    example.workload.traffic =
        sweeps::traffic_from({{4.0, 1.0}}, {{500.0, 1.0}}, sweeps::ShareOf::time, sweeps::LoadKind::arrival_rate);
    example.workload.prompt_tokens = 400.0;
    example.recommendation.variants[0].setup.prompt_tokens = 400.0;
    example.recommendation.variants[0].setup.output_tokens = 200.0;
    const std::string vllm = example.text(ExportKind::check_vllm);
    CHECK(vllm.find("--request-rate 4 ") != std::string::npos);
    CHECK(vllm.find("--max-concurrency") == std::string::npos);
    CHECK(vllm.find("# 4 requests/s: TPOT ") != std::string::npos);
    CHECK(example.text(ExportKind::check_guidellm).find("--profile kind=poisson,rate=4 ") != std::string::npos);
    CHECK(example.text(ExportKind::check_aiperf).find("--request-rate 4 ") != std::string::npos);
    // The promise is that of the batch at which each server settles.
    const sim::CompiledRound round = sim::compile_round(example.recommendation.variants[0].setup);
    const auto tpot = [&](int speculation) {
        const double batch = sweeps::settle(round, speculation, {sweeps::LoadKind::arrival_rate, 4.0}, 500.0).batch;
        return 1e3 * sim::evaluate(round, {speculation, batch, 500.0}).time_per_token.value();
    };
    CHECK(vllm.find(fmt::format("TPOT {:.2f} ms with 3 draft tokens, {:.2f} ms without", tpot(3), tpot(0))) !=
          std::string::npos);
}

TEST_CASE("a check promises what its own commands measure: the flags' draft lengths, and requests that are all alike") {
    Case example;
    example.recommendation.schedule = schedule_of({{1, 4}, {33, 2}}, 256);
    sim::RoundSetup& setup = example.recommendation.variants[0].setup;
    setup.platform.stack = stack("vllm");
    setup.prompt_tokens = example.workload.prompt_tokens = 400.0;
    setup.prompt_lengths = {{100.0, 0.5}, {700.0, 0.5}};
    setup.output_tokens = 200.0;
    setup.prefix_hit = 0.5;
    example.workload.traffic.kind = sweeps::LoadKind::concurrency;
    for (sweeps::TrafficPoint& point : example.workload.traffic.points) {
        point.context = 620.0;  // long answers decode for longer
    }
    sim::RoundSetup alike = setup;
    alike.prompt_lengths = {};
    alike.prefix_hit = 0.0;
    const sim::CompiledRound round = sim::compile_round(alike);
    const Engine engine = find_engine("vllm");
    const FlagPlan plan = plan_flags(example.recommendation, engine).plan;
    const std::string vllm = example.text(ExportKind::check_vllm);
    CHECK(vllm.find("--random-input-len 400 --random-output-len 200 ") != std::string::npos);
    for (const double load : {1.0, 64.0}) {
        const int drafts = plan.schedule.empty() ? plan.draft_tokens : load < 33.0 ? 4 : 2;
        const auto tpot = [&](int speculation) {
            return 1e3 * sim::evaluate(round, {speculation, load, 500.0}).time_per_token.value();
        };
        const std::string promise = fmt::format("# {:g} requests: TPOT {:.2f} ms with {} draft tokens, {:.2f} ms without", load,
                                                tpot(drafts), drafts, tpot(0));
        CHECK_THAT(vllm, Catch::Contains(promise));
    }
    // Both servers, as the flags start them.
    CHECK_THAT(vllm, Catch::Contains("# " + write_flags(plan).text + "\n"));
    CHECK(vllm.find("\n# vllm serve ") < vllm.find("# Against the server with the drafter:"));
    // Clients whose results do not say what was drafted are told, for each length.
    const std::string guidellm = example.text(ExportKind::check_guidellm);
    if (!plan.schedule.empty()) {
        CHECK_THAT(guidellm, Catch::Contains("import my-plain-run.json drafts-64.json --draft-tokens 2 ") &&
                                 Catch::Contains("import my-run.json drafts-1.json --draft-tokens 4 "));
    }
}

TEST_CASE("AISimulate gets rates of look-ups, the mean of MTP, and other drafters as a head of the target") {
    // docs/replay/engine/speculation.md and docs/agentx-mtp.md of ai-dynamo/aisimulate: one conditional rate for each draft of
    // "ngram", expected_accepted_tokens of "mtp" without the base token, engine.nextn for the rest; 1 to 5 draft tokens.
    Case example;
    CHECK(example.text(ExportKind::aisimulate) == "engine:\n  nextn: 3\n  nextn_accepted: 1.50\n");
    sim::RoundSetup& setup = example.recommendation.variants[0].setup;
    setup.drafter = sim::OneLayerDrafter{0, 2, sim::OneLayerKind::mtp};
    CHECK(example.text(ExportKind::aisimulate) ==
          "engine:\n  speculation:\n    kind: mtp\n    num_speculative_tokens: 3\n    expected_accepted_tokens: 1.50\n");
    setup.drafter = sim::NgramDrafter{};
    setup.acceptance = sim::Acceptance::per_position({0.8, 0.48, 0.192});
    CHECK(example.text(ExportKind::aisimulate) ==
          "engine:\n  speculation:\n    kind: ngram\n    num_speculative_tokens: 3\n    acceptance_rates: [0.800, 0.600, "
          "0.400]\n");
    example.recommendation.candidates[0].speculation = example.recommendation.candidates[0].draft_tokens = 6;
    CHECK_THROWS_WITH(example.text(ExportKind::aisimulate), Catch::Contains("AISimulate takes 1 to 5"));
}

TEST_CASE("simulated acceptance counts the bonus token as each engine does") {
    const sweeps::CandidateRun run{false, 3, 8, 1024, 0.01};
    const Case example;
    const auto commands = [&](const sweeps::CandidateRun& of, const char* engine) {
        return commands_for(of, find_engine(engine), example.recommendation);
    };
    const auto first = [&](const char* engine) { return commands(run, engine).lines; };
    CHECK(first("vllm")[0].find("\"synthetic_acceptance_rates\":[1.0,0.5,0.0]") != std::string::npos);
    CHECK(first("sglang")[0].find("SGLANG_SIMULATE_ACC_LEN=2.50") != std::string::npos);
    CHECK(first("sglang")[0].find("--speculative-num-draft-tokens 4") != std::string::npos);
    CHECK(first("tensorrt-llm")[1].find("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS=1.50") != std::string::npos);
    const RunCommands simulated = commands(run, "llama.cpp");
    CHECK(simulated.lines[0].find("--spec-synth-rates 1.0,0.5") != std::string::npos);
    CHECK(simulated.remark.find("needs llama.cpp 0.5.0") != std::string::npos);
    const sweeps::CandidateRun real{true, 3, 1, 1024, 0.0};
    CHECK(commands(real, "vllm").lines[0].find("synthetic") == std::string::npos);
}

}  // namespace export_test
