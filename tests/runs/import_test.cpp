// Files of every format are read, told apart by their content, with counts as sheet after sheet of the engines defines them.
// The fixtures are written after the engines' sources and public logs (pull requests named beside the readers); expected values
// are arithmetic on them.
#include <fstream>
#include <random>
#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "runs/own_file.h"
#include "runs/run.h"
#include "source_folder.h"
#include "text/input_error.h"

namespace import_test {

using namespace treeline;

namespace {

std::string fixture(const std::string& name) { return (testing::source_folder() / "tests/runs/fixtures" / name).string(); }

std::string content(const std::string& name) {
    std::ifstream in(fixture(name), std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

runs::MeasuredRun imported(const std::string& name, const runs::RunHints& hints = {}) {
    return runs::import_runs({fixture(name)}, hints);
}

std::string problem_of(const std::string& text, const runs::RunHints& hints = {}) {
    try {
        static_cast<void>(runs::import_run_text(text, "file", hints));
    } catch (const text::InputError& error) {
        return error.what();
    }
    return "";
}

const runs::RunCell& cell_of(const runs::MeasuredRun& run, double batch, int draft_tokens) {
    for (const runs::RunCell& cell : run.cells) {
        if (cell.batch == batch && cell.draft_tokens == draft_tokens) {
            return cell;
        }
    }
    FAIL("no cell at batch " << batch << " with " << draft_tokens << " draft tokens");
    return run.cells.front();
}

const char* const all_fixtures[] = {"vllm_bench_plain.json",
                                    "vllm_bench_spec.json",
                                    "vllm_log_new.txt",
                                    "vllm_log_old.txt",
                                    "vllm_metrics.txt",
                                    "requests.jsonl",
                                    "sglang_log.txt",
                                    "sglang_bench_serving.jsonl",
                                    "sglang_bench_speculative.jsonl",
                                    "sglang_responses.jsonl",
                                    "sglang_server_info.json",
                                    "tensorrt_llm_iterations.jsonl",
                                    "tensorrt_llm_metrics.json",
                                    "trtllm_bench.json",
                                    "llama_cpp_responses.jsonl",
                                    "llama_cpp_plain.json",
                                    "llama_cpp_log.txt",
                                    "llama_cpp_metrics.txt",
                                    "llama_bench.json",
                                    "llama_mtp_bench.json",
                                    "llama_batched_bench.jsonl",
                                    "guidellm.json",
                                    "aiperf.json",
                                    "speculators_acceptance.csv",
                                    "speculators_perf.csv",
                                    "vllm_bench_console.txt",
                                    "sglang_bench_console.txt",
                                    "trtllm_bench_console.txt",
                                    "vllm_log_engines.txt",
                                    "vllm_log_aggregated.txt",
                                    "vllm_log_settings.txt",
                                    "sglang_log_ranks.txt",
                                    "sglang_log_finish.txt",
                                    "sglang_sglext.json",
                                    "llama_cpp_router.txt",
                                    "omlx_log.txt",
                                    "trtllm_metrics.txt",
                                    "sglang_metrics.txt",
                                    "llama_benchy.json",
                                    "inferencex.json",
                                    "llama_bench_table.txt",
                                    "llama_batched_table.txt",
                                    "llama_sweep_table.txt",
                                    "llama_cpp_requests.txt",
                                    "vllm_steps.txt",
                                    "trtllm_steps.txt",
                                    "vllm_offline.txt",
                                    "mlx_vlm_response.json",
                                    "llama_speculative.txt",
                                    "llama_cli.txt",
                                    "llama_benchy_table.md",
                                    "sglang_one_batch_table.md",
                                    "sglang_one_batch.jsonl",
                                    "prose_results.txt"};

}  // namespace

TEST_CASE("vllm bench serve: counts without the bonus token, a gap between messages is a round") {
    const runs::MeasuredRun run = runs::import_runs({fixture("vllm_bench_plain.json"), fixture("vllm_bench_spec.json")});
    CHECK(run.identity.engine == "vllm");
    CHECK(run.identity.model == "meta-llama/Llama-3.1-8B-Instruct");
    REQUIRE(run.cells.size() == 2);
    const runs::RunCell& spec = cell_of(run, 8, 3);
    CHECK(spec.acceptance.drafts == 8000);
    CHECK(spec.accept_length() == Approx(1.0 + 12000.0 / 8000.0));
    CHECK(spec.acceptance.positions() == std::vector<double>{0.75, 0.475, 0.275});
    CHECK(spec.context == Approx(512 + 128));  // prompts of 512 and half an answer of 256
    CHECK(spec.round_seconds() == Approx(0.016));
    CHECK(spec.tpot_seconds() == Approx(0.0075));
    // Rounds as if independent: n = 0, 1, 2, 3 with 0.25, 0.275, 0.2, 0.275; E = 1.5, E[n²] = 3.55.
    CHECK(spec.acceptance.accept_length_error() == Approx(std::sqrt((3.55 - 2.25) / 8000)));
    CHECK(cell_of(run, 8, 0).accept_length() == 1.0);
}

TEST_CASE("vLLM's log: weights are counters, speeds count where the running requests did not change") {
    const runs::MeasuredRun run = imported("vllm_log_new.txt");
    CHECK(run.identity.version == "0.10.2");
    const runs::RunCell& steady = cell_of(run, 8, 3);
    CHECK(steady.acceptance.drafts == 5000);  // 15000 drafted / 3; the interval in which requests came has no batch
    CHECK(steady.round_seconds() == Approx(8 * 2.5 / 1250.0));
    // 1860 + 7500 + 1000 accepted in (3720 + 15000 + 3000)/3 drafts; a mean of the three lengths would be 2.33.
    CHECK(run.acceptance().accept_length() == Approx(1.0 + 10360.0 / 7240.0));
    CHECK(run.acceptance().positions()[0] == Approx((930 + 3800 + 600) / 7240.0));
}

TEST_CASE("a log of vLLM that ends before the line on speculation has no plain step at its end") {
    const std::string engine =
        "INFO 05-08 16:26:39 [loggers.py:271] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: "
        "125.0 "
        "tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 7.4%, Prefix cache hit rate: 0.0%\n";
    const std::string drafts =
        "INFO 05-08 16:26:39 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 2.50, Accepted throughput: 75.00 "
        "tokens/s, Drafted throughput: 150.00 tokens/s, Accepted: 750 tokens, Drafted: 1500 tokens, Per-position acceptance "
        "rate: 0.700, 0.500, 0.300, Avg Draft acceptance rate: 50.0%\n";
    const runs::MeasuredRun cut = runs::import_run_text(engine + drafts + engine + drafts + engine, "log");
    REQUIRE(cut.cells.size() == 2);  // with the first interval, whose requests may have come within it
    for (const runs::RunCell& cell : cut.cells) {
        CHECK(cell.draft_tokens == 3);
    }
    // An interval in which nothing was drafted, followed by others.
    const runs::MeasuredRun off = runs::import_run_text(engine + drafts + engine + engine + drafts, "log");
    CHECK(cell_of(off, 1, 0).round_seconds() == Approx(1.0 / 125.0));
}

TEST_CASE("old lines of vLLM's log") {
    const runs::MeasuredRun run = imported("vllm_log_old.txt");
    CHECK(run.acceptance(4).drafts == 13429 + 100);
    CHECK(run.acceptance(4).accepted == 32594 + 240);
}

TEST_CASE("drafts of varying length are counted by the printed mean") {
    // A line of suffix decoding as users post it (drafts of up to 24 tokens, 2.5 in the mean).
    const runs::MeasuredRun run = runs::import_run_text(
        "(APIServer pid=2013781) INFO 02-27 23:14:12 [metrics.py:100] SpecDecoding metrics: Mean acceptance length: 1.78, "
        "Accepted "
        "throughput: 36.40 tokens/s, Drafted throughput: 118.99 tokens/s, Accepted: 364 tokens, Drafted: 1200 tokens, "
        "Per-position "
        "acceptance rate: 0.339, 0.146, 0.071, 0.039, 0.030, 0.028, 0.024, 0.021, 0.021, 0.021, 0.021, 0.019, 0.000, 0.000, "
        "0.000, "
        "0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, Avg Draft acceptance rate: 30.6%\n",
        "log");
    CHECK(run.acceptance().drafts == 467);  // 364 / 0.78, and not 1200 / 24
    CHECK(run.acceptance().accept_length() == Approx(1.78).epsilon(0.001));
    CHECK(run.acceptance().draft_length() == Approx(1200.0 / 467));
}

TEST_CASE("Prometheus: sums over engines; two scrapes give differences") {
    const runs::MeasuredRun run = imported("vllm_metrics.txt");
    const runs::AcceptanceCounts counts = run.acceptance();
    CHECK(counts.drafts == 1000);
    CHECK(counts.accept_length() == Approx(2.5));
    CHECK(counts.positions() == std::vector<double>{0.75, 0.475, 0.275});
    CHECK(run.settings.data_parallel == 2);
    CHECK(run.remarks.back().find("counts of 2 engines of data parallelism were added up") != std::string::npos);
    // The same counters, later: 30 more drafts of 90 tokens, 45 accepted.
    const std::string label = "{engine=\"0\",model_name=\"m\"} ";
    const auto scrape = [&](int drafts, int drafted, int accepted) {
        return "vllm:spec_decode_num_drafts_total" + label + std::to_string(drafts) +
               "\nvllm:spec_decode_num_draft_tokens_total" + label + std::to_string(drafted) +
               "\nvllm:spec_decode_num_accepted_tokens_total" + label + std::to_string(accepted) +
               "\nvllm:num_requests_running" + label + "8\n";
    };
    const runs::MeasuredRun two = runs::import_run_text(scrape(100, 300, 10) + scrape(130, 390, 55), "metrics");
    CHECK(cell_of(two, 8, 3).acceptance.drafts == 30);
    CHECK(cell_of(two, 8, 3).accept_length() == Approx(2.5));
    CHECK(problem_of(scrape(100, 300, 10) + scrape(30, 90, 5)).find("restarted") != std::string::npos);
    const runs::MeasuredRun llama = imported("llama_cpp_metrics.txt");
    CHECK(llama.identity.engine == "llama.cpp");
    CHECK(llama.acceptance().accept_length() == Approx(1.0 + 167.0 / 87.0));
}

TEST_CASE("acceptance of single requests is added up as counts") {
    const runs::MeasuredRun run = imported("requests.jsonl");
    const runs::AcceptanceCounts counts = run.acceptance(3);
    CHECK(counts.drafts == 43 + 20 + 10);
    CHECK(counts.accepted == 10 + 30 + 12);
    // At least one accepted: 4 of 43, 12 of 20, 8 of 10.
    CHECK(counts.positions()[0] == Approx(24.0 / 73.0));
    CHECK(counts.positions()[2] == Approx((3 + 6 + 1) / 73.0));
    CHECK(counts.blocks == 3);
}

TEST_CASE("SGLang: its draft tokens include the root") {
    const runs::MeasuredRun log = imported("sglang_log.txt");
    CHECK(log.identity.method == "EAGLE3");
    const runs::RunCell& steady = cell_of(log, 8, 3);
    // The line after a prefill does not count as a step, the other two do: 8 · 2.9/1160 and 8 · 2.7/1080.
    CHECK(steady.round.times() == 2);
    CHECK(steady.round_seconds() == Approx(0.020));
    CHECK(steady.captured_steps == 120);
    CHECK(cell_of(log, 60, 3).eager_steps == 40);
    const runs::MeasuredRun serving = imported("sglang_bench_serving.jsonl");
    CHECK(cell_of(serving, 16, 3).accept_length() == Approx(2.8));
    CHECK(cell_of(serving, 16, 3).acceptance.drafts == Approx(28000 / 2.8));
    const runs::MeasuredRun points = imported("sglang_bench_speculative.jsonl");
    CHECK(cell_of(points, 1, 0).round_seconds() == Approx(0.0075));
    CHECK(cell_of(points, 1, 5).round_seconds() == Approx(0.0116));
    CHECK(cell_of(points, 1, 5).accept_length() == Approx(3.0));
    const runs::MeasuredRun responses = imported("sglang_responses.jsonl");
    CHECK(responses.acceptance(3).drafts == 57);
    CHECK(responses.acceptance(3).drafts_with_positions == 25);
    CHECK(responses.acceptance(3).positions()[0] == Approx(19.0 / 25.0));
    CHECK(imported("sglang_server_info.json").cells.front().accept_length() == Approx(2.81));
}

TEST_CASE("TensorRT-LLM: iterations that read prompts give counts and no times") {
    const runs::MeasuredRun run = imported("tensorrt_llm_iterations.jsonl");
    const runs::RunCell& cell = cell_of(run, 8, 3);
    CHECK(cell.acceptance.drafts == 32);
    CHECK(cell.acceptance.accepted == 13 + 12 + 14 + 10);
    CHECK(cell.round.times() == 3);
    CHECK(cell.round_seconds() == Approx(0.010));
    CHECK(cell.drafting.mean() == Approx(0.0021));
    CHECK(cell_of(imported("tensorrt_llm_metrics.json"), 8, 3).round.times() == 2);
    const runs::MeasuredRun bench = imported("trtllm_bench.json");
    CHECK(cell_of(bench, 8, 3).accept_length() == Approx(2.51));  // 306 drafted and 154 accepted in 102 rounds of 3
    CHECK(cell_of(bench, 8, 3).tpot_seconds() == Approx(0.0052));
}

TEST_CASE("llama.cpp: rounds are generated tokens less the first and the accepted drafts, or what the log says") {
    const runs::MeasuredRun run = imported("llama_cpp_responses.jsonl");
    const runs::RunCell& cell = cell_of(run, 1, 3);
    CHECK(cell.acceptance.drafts == (255 - 167) + (199 - 128));
    CHECK(cell.accept_length() == Approx(454.0 / 159.0));
    CHECK(cell.round_seconds() == Approx((2.29672 + 1.8) / 159));
    const runs::MeasuredRun log = imported("llama_cpp_log.txt");
    CHECK(cell_of(log, 1, 3).acceptance.drafts == 87);  // a mean of 2.92 with 167 accepted; 88 would be 2.90
    CHECK(cell_of(log, 1, 3).acceptance.positions()[0] == Approx(70.0 / 87.0));
    CHECK(cell_of(log, 1, 3).drafting.mean() == Approx(0.325555 / 87));
    CHECK(cell_of(log, 1, 0).round_seconds() == Approx(1.7 / 99));
    const runs::MeasuredRun bench = imported("llama_bench.json");
    REQUIRE(bench.passes.size() == 4);
    CHECK(bench.passes[3].tokens == 8);
    CHECK(bench.passes[3].seconds.mean() == Approx(0.024));
    CHECK(cell_of(bench, 1, 0).round_seconds() == Approx(0.017));
    CHECK(cell_of(imported("llama_batched_bench.jsonl"), 4, 0).round_seconds() == Approx(3.1 / 128));
}

TEST_CASE("clients that know no acceptance are joined with files that do") {
    runs::RunHints hints;
    hints.draft_tokens = 3;
    const runs::MeasuredRun run = runs::import_runs({fixture("guidellm.json"), fixture("vllm_metrics.txt")}, hints);
    CHECK(cell_of(run, 8, 3).tpot_seconds() == Approx(0.0084));
    CHECK(run.acceptance(3).accept_length() == Approx(2.5));
    CHECK(cell_of(imported("aiperf.json", hints), 8, 3).ttft.mean() == Approx(0.061));
    const runs::MeasuredRun table = imported("speculators_acceptance.csv");
    CHECK(table.acceptance(3).accept_length() == Approx(1 + 2000.0 / 1500.0));
    CHECK(imported("speculators_perf.csv").cells.front().tpot_seconds() == Approx(0.0074));
}

TEST_CASE("our own file keeps everything") {
    for (const char* name : all_fixtures) {
        INFO(name);
        const runs::MeasuredRun run = imported(name);
        const std::string text = run_json(run).dump(1) + "\n";
        const runs::MeasuredRun again = runs::import_run_text(text, "mine.json");
        CHECK(run_json(again).dump(1) + "\n" == text);
    }
}

TEST_CASE("several lines of a deployment scatter more than independent rounds") {
    runs::AcceptanceCounts counts;
    for (int i = 0; i < 10; ++i) {
        runs::AcceptanceCounts block;
        block.drafts = 100;
        block.drafted = 300;
        block.accepted = i % 2 == 0 ? 50 : 250;  // requests of two kinds
        counts.add(block.as_block());
    }
    // The ratio of the sums, 1.5; residuals ±100 in each of ten blocks: sqrt(10·100²·10/9)/1000.
    CHECK(counts.accept_length_error() == Approx(std::sqrt(1e5 * 10 / 9) / 1000));
}

TEST_CASE("impossible files are refused in sentences") {
    const auto bench = [](const std::string& counts) {
        return R"({"model_id": "m", "completed": 1, "total_output_tokens": 10, "max_concurrency": 1, )" + counts + "}";
    };
    CHECK(problem_of("") == "file: is empty");
    CHECK(problem_of("hello\n").find("none of the formats") != std::string::npos);
    CHECK(problem_of(bench(R"("spec_decode_num_drafts": 5, "spec_decode_draft_tokens": 15, "spec_decode_accepted_tokens": 16)"))
              .find("16 accepted tokens, but only 15 were drafted") != std::string::npos);
    CHECK(problem_of(bench(R"("spec_decode_num_drafts": 5, "spec_decode_draft_tokens": 15, "spec_decode_accepted_tokens": -1)"))
              .find("-1 accepted tokens, which is no count") != std::string::npos);
    CHECK(
        problem_of(bench(R"("spec_decode_num_drafts": 5, "spec_decode_draft_tokens": 15, "spec_decode_accepted_tokens": 0.62)"))
            .find("looks like a rate") != std::string::npos);
    CHECK(problem_of(bench(R"("spec_decode_acceptance_rate": 62.0)"))
              .find("was measured with drafts, but nothing says how many tokens were drafted") != std::string::npos);
    // Rates that rise and add up to another number are not of drafts; those that add up are what the engine did.
    CHECK(problem_of(bench(R"("spec_decode_num_drafts": 9, "spec_decode_draft_tokens": 18, "spec_decode_accepted_tokens": 7,
              "spec_decode_per_position_acceptance_rates": [0.3, 0.7])"))
              .find("a draft that fails at one position is not accepted at the next") != std::string::npos);
    CHECK(problem_of(content("vllm_bench_spec.json").substr(0, 300)).find("seems to be cut off") != std::string::npos);
    CHECK_THROWS_WITH(runs::import_runs({fixture("vllm_bench_plain.json"), fixture("llama_cpp_plain.json")}),
                      Catch::Contains("is of the engine llama.cpp") && Catch::Contains("is of the model qwen2.5-7b-instruct"));
    CHECK_THROWS_WITH(runs::import_runs({"/nowhere/run.json"}), Catch::Contains("cannot be opened"));
    const std::string line =
        "[2026-04-08 14:05:21] Decode batch, #running-req: 8, accept len: 2.80, gen throughput (token/s): 912.40\n";
    CHECK(problem_of(line).find("--draft-tokens K") != std::string::npos);
    runs::RunHints hints;
    hints.draft_tokens = 3;
    CHECK(problem_of(line, hints).empty());
}

TEST_CASE("what a stranger gets wrong is said in a sentence") {
    const auto timings = [](const std::string& more) {
        return R"({"model": "a", "timings": {"predicted_n": 10, "predicted_ms": 100, )" + more + "}}\n";
    };
    CHECK(problem_of(timings(R"("draft_n": -5, "draft_n_accepted": 2)")).find("below 0") != std::string::npos);
    CHECK(problem_of(timings(R"("prompt_n": -5000)")).find("below 0") != std::string::npos);
    CHECK(problem_of(R"({"timings": {"predicted_n": 1e308, "predicted_ms": 1e308}})").find("more than a request can have") !=
          std::string::npos);
    CHECK(problem_of(R"({"timings": {"predicted_n": 1e400, "predicted_ms": 1}})").find("beyond 1e308") != std::string::npos);
    CHECK(problem_of(timings(R"("prompt_n": 5)") + R"({"timings": {"predicted_n": 1e400}})").find("beyond 1e308") !=
          std::string::npos);

    const std::string twice = fixture("vllm_bench_plain.json");
    CHECK_THROWS_WITH(runs::import_runs({twice, twice}), Catch::Contains("is given twice"));
    runs::RunHints hints;
    hints.identity.model = "some-other-model";
    CHECK(problem_of(content("vllm_log_new.txt"), hints).find("but --model says some-other-model") != std::string::npos);
}

TEST_CASE("one bad record never stops a file of many") {
    const auto remark_of = [](const std::string& text) {
        const runs::MeasuredRun run = runs::import_run_text(text, "file", {});
        CHECK(run.cells.size() > 0);
        std::string remarks;
        for (const std::string& remark : run.remarks) {
            remarks += remark + "\n";
        }
        return remarks;
    };
    const std::string responses = content("llama_cpp_responses.jsonl"), points = content("sglang_bench_speculative.jsonl");
    CHECK_THAT(remark_of(responses + R"({"timings": {"predicted_n": -5, "predicted_ms": "x", "draft_n": 3}})" + "\n"),
               Catch::Contains("must give predicted_n, and predicted_ms or predicted_per_second, as numbers; it is left out"));
    CHECK_THAT(remark_of(responses + "{\"bad\n" + responses), Catch::Contains("is not JSON; it is left out"));
    CHECK_THAT(remark_of(responses + "{\"timings\": {\"predi"), Catch::Contains("seems to be cut off; it is left out"));
    CHECK_THAT(remark_of(points + R"({"batch_size": 0, "steps": 3, "topk": 4, "num_draft_tokens": 8, "acc_length": -1, )" +
                         R"("step_time": 0.01, "speed": 232.6, "completion_tokens": 512})" + "\n"),
               Catch::Contains("it is left out"));
    CHECK_THAT(remark_of(content("speculators_acceptance.csv") + "\nx,y,,,\n"),
               Catch::Contains("has 5 fields, but the header has 8; it is left out"));
    // What counts is the same as without the record.
    CHECK(runs::import_run_text(responses + "{\"bad\n", "file", {}).cells.front().acceptance.drafts ==
          runs::import_run_text(responses, "file", {}).cells.front().acceptance.drafts);
    // Bad records that are as many as good ones are no slip.
    CHECK_FALSE(problem_of("num_drafts,num_draft_tokens,num_accepted_tokens\n10,30,15\nx,y,z\na,b,c\n").empty());
}

TEST_CASE("every beginning of every fixture is imported or refused") {
    std::minstd_rand random(7);
    for (const char* name : all_fixtures) {
        const std::string text = content(name);
        REQUIRE_FALSE(text.empty());
        int refused = 0, read = 0;
        for (std::size_t length = 0; length < text.size(); length += 1 + random() % (text.size() < 2000 ? 7 : 29)) {
            const std::string problem = problem_of(text.substr(0, length));
            ++(problem.empty() ? read : refused);
            CHECK(problem.find("std::") == std::string::npos);
            CHECK(problem.find("json.exception") == std::string::npos);
        }
        CHECK(refused > 0);
        // One byte of it replaced.
        for (int i = 0; i < 75; ++i) {
            std::string broken = text;
            broken[random() % broken.size()] = static_cast<char>(random() % 256);
            static_cast<void>(problem_of(broken));
        }
        CHECK(read + refused > 10);
    }
}

TEST_CASE("logs in the records of a collector, and in UTF-16, say what they say in plain text") {
    const std::string plain = content("vllm_log_new.txt");
    const runs::MeasuredRun expected = runs::import_run_text(plain, "file", {});
    const auto same = [&](const std::string& text) {
        const runs::MeasuredRun run = runs::import_run_text(text, "file", {});
        REQUIRE(run.cells.size() == expected.cells.size());
        for (std::size_t i = 0; i < run.cells.size(); ++i) {
            CHECK(run.cells[i].acceptance.drafts == expected.cells[i].acceptance.drafts);
            CHECK(run.cells[i].round.mean() == expected.cells[i].round.mean());
        }
    };
    std::string line;
    for (const char* key : {"log", "MESSAGE", "message", "msg", "line", "textPayload"}) {
        INFO(key);
        std::istringstream lines(plain);
        std::string records;
        while (std::getline(lines, line)) {
            records += nlohmann::json{{"stream", "stderr"}, {key, line + "\n"}}.dump() + "\n";
        }
        same(records);
    }
    std::string little = "\xFF\xFE", big = "\xFE\xFF";
    for (const char c : plain) {
        little += {c, '\0'};
        big += {'\0', c};
    }
    same(little);
    same(big);
    CHECK_THAT(problem_of("{\"log\": \"nothing of an engine\\n\"}\n"), Catch::Contains("formats that are read"));
}

TEST_CASE("what programs of local users print: times per token, drafts by a hint") {
    const auto only = [](const std::string& text, const runs::RunHints& hints = {}) {
        const runs::MeasuredRun run = runs::import_run_text(text, "file", hints);
        REQUIRE(run.cells.size() == 1);
        return run.cells.front();
    };
    const std::string mlx =
        "==========\nPrompt: 24 tokens, 180.123 tokens-per-sec\nGeneration: 256 tokens, 80.0 tokens-per-sec\n"
        "Peak memory: 18.123 GB\n";
    CHECK(only(mlx).tpot.mean() == Approx(1.0 / 80.0));
    CHECK(only(mlx).context == Approx(24.0 + 128.0));
    CHECK(only(mlx).draft_tokens == 0);
    runs::RunHints hints;
    hints.draft_tokens = 3;
    CHECK(only(mlx, hints).draft_tokens == 3);
    CHECK(only("prompt eval count:    26 token(s)\nprompt eval rate:     200.00 tokens/s\neval count:           300 token(s)\n"
               "eval duration:        5.0s\neval rate:            60.00 tokens/s\n")
              .tpot.mean() == Approx(1.0 / 60.0));
    CHECK(
        only(
            "Metrics (ID: abc): 256 tokens generated in 4.2 seconds (Queue: 0.0 s, Process: 0 cached tokens and 120 new tokens "
            "at 900.0 T/s, Generate: 64.0 T/s, Context: 120 tokens)\n")
            .tpot.mean() == Approx(1.0 / 64.0));
}

TEST_CASE("lines of one load end in one cell") {
    const std::string line =
        "[2026-04-08 14:05:21] Decode batch, #running-req: 8, #token: 9120, token usage: 0.11, cuda graph: True, gen "
        "throughput (token/s): 912.40, #queue-req: 0, and so on\n";
    const std::string text = [&] {
        std::string lines;
        for (int i = 0; i < 20000; ++i) {
            lines += line;
        }
        return lines;
    }();
    const runs::MeasuredRun run = runs::import_run_text(text, "log");
    REQUIRE(run.cells.size() == 1);
    CHECK(run.cells.front().captured_steps == 20000 * 40);
}

}  // namespace import_test
