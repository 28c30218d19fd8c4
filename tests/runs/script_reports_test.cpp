// Logs of single steps, and what clients and scripts around the engines print. The fixtures are written anew in those forms;
// expected values are arithmetic on them.
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "imported_run.h"
#include "runs/own_file.h"

namespace script_reports_test {

using namespace treeline;
using namespace treeline::testing;

TEST_CASE("tables of llama-batched-bench and llama-sweep-bench") {
    const runs::MeasuredRun batched = from("llama_batched_table.txt");
    REQUIRE(batched.cells.size() == 2);
    CHECK(batched.cells[1].batch == 4);
    CHECK(batched.cells[1].round.mean() == Approx(4.48 / 128));
    CHECK(batched.cells[1].context == 512 + 64);
    const runs::MeasuredRun sweep = from("llama_sweep_table.txt");
    REQUIRE(sweep.cells.size() == 2);
    CHECK(sweep.cells[1].context == 4096 + 512 + 64);
    CHECK(sweep.cells[1].round.mean() == Approx(3.84 / 128));
}

TEST_CASE("llama-benchy's table is what clients of a server see") {
    const runs::MeasuredRun run = from("llama_benchy_table.md", drafting(3));
    REQUIRE(run.cells.size() == 2);
    CHECK(run.cells[1].batch == 4);
    CHECK(run.cells[1].draft_tokens == 3);
    CHECK(run.cells[1].tpot.mean() == Approx(1.0 / 16.0));  // of a request, not of all
    CHECK(run.cells[1].tokens_per_second.mean() == 66);
    CHECK(run.cells[1].ttft.mean() == Approx(1.226));
    CHECK(run.cells[1].context == 4096 + 2048 + 64);
    CHECK(run.identity.engine.empty());
}

TEST_CASE("SGLang's bench_one_batch and bench_one_batch_server") {
    const runs::MeasuredRun table = from("sglang_one_batch_table.md");
    REQUIRE(table.cells.size() == 2);
    CHECK(table.cells[1].tpot.mean() == Approx(0.010));  // 16 of 1600 tokens/s
    const runs::MeasuredRun lines = from("sglang_one_batch.jsonl");
    REQUIRE(lines.cells.size() == 2);
    CHECK(lines.cells[0].round.mean() == Approx(0.0075));
    CHECK(lines.cells[1].ttft.mean() == Approx(0.61));
    const std::string row =
        R"({"batch_size": 4, "input_len": 8, "output_len": 16, "latency": 1, "output_throughput": 100, "acc_length": 2.5})";
    CHECK_THROWS_WITH(of_text(row), Catch::Contains("--draft-tokens K"));
    CHECK(of_text(row, drafting(3)).cells.at(0).accept_length() == 2.5);
}

TEST_CASE("logs of single steps: those that read prompts and those of other ranks are left out") {
    const runs::MeasuredRun vllm = from("vllm_steps.txt");
    REQUIRE(vllm.cells.size() == 1);
    CHECK(vllm.cells[0].batch == 20);
    CHECK(vllm.cells[0].draft_tokens == 3);  // 80 tokens of 20 requests
    CHECK(vllm.cells[0].round.times() == 2);
    CHECK(vllm.cells[0].round.mean() == Approx(0.011));
    const runs::MeasuredRun trtllm = from("trtllm_steps.txt");
    REQUIRE(trtllm.cells.size() == 2);
    CHECK(trtllm.identity.engine == "tensorrt-llm");
    CHECK(trtllm.cells[0].draft_tokens == 0);
    CHECK(trtllm.cells[0].round.mean() == Approx(0.005));
    CHECK(trtllm.cells[1].draft_tokens == 3);
    CHECK(trtllm.cells[1].round.mean() == Approx(0.012));
}

TEST_CASE("what scripts around vLLM and llama.cpp print") {
    const runs::MeasuredRun vllm = from("vllm_offline.txt");
    REQUIRE(vllm.cells.size() == 1);
    CHECK(vllm.cells[0].draft_tokens == 3);
    CHECK(vllm.cells[0].accept_length() == Approx(1.0 + 8500.0 / 5000.0));
    CHECK(vllm.cells[0].acceptance.positions() == std::vector<double>{0.74, 0.55, 0.41});
    // 100 + 200 tokens after the first ones, 60 + 120 of them drafted: 40 + 80 rounds of 2 drafts.
    const runs::MeasuredRun requests = from("llama_cpp_requests.txt");
    REQUIRE(requests.cells.size() == 1);
    CHECK(requests.cells[0].acceptance.drafts == 120);
    CHECK(requests.cells[0].accept_length() == Approx(2.5));
    CHECK(requests.cells[0].draft_tokens == 2);
    const runs::MeasuredRun speculative = from("llama_speculative.txt");
    REQUIRE(speculative.cells.size() == 1);
    CHECK(speculative.cells[0].acceptance.drafts == 80);  // 200 less 120
    CHECK(speculative.cells[0].draft_tokens == 4);
    CHECK(speculative.cells[0].round.mean() == Approx(0.05));
    CHECK(from("llama_cli.txt").cells.at(0).round.mean() == Approx(0.030));
}

TEST_CASE("mlx-vlm counts the rounds, and drafts beyond the end of an answer with them") {
    const runs::MeasuredRun run = from("mlx_vlm_response.json");
    REQUIRE(run.cells.size() == 1);
    CHECK(run.cells[0].acceptance.drafts == 30);
    CHECK(run.cells[0].draft_tokens == 3);
    CHECK(run.cells[0].round.mean() == Approx(2.22 / 30));
    const std::string short_answer =
        R"({"timings": {"predicted_n": 2, "predicted_ms": 30, "draft_rounds": 1, "draft_n": 7, "draft_n_accepted": 6}})";
    CHECK(of_text(short_answer).cells.at(0).accept_length() == 7.0);
}

TEST_CASE("answers that count predictions as OpenAI's API does") {
    const auto answer = [](const std::string& more) {
        return R"({"model": "m", "usage": {"prompt_tokens": 30, "completion_tokens": 101, "completion_tokens_details":
                   {"accepted_prediction_tokens": 60, "rejected_prediction_tokens": 20})" +
               more + "}}";
    };
    const runs::MeasuredRun timed = of_text(answer(R"(, "completion_tokens_per_sec": 50.5)"));
    REQUIRE(timed.cells.size() == 1);
    CHECK(timed.cells[0].acceptance.drafts == 40);  // 100 tokens after the first, 60 of them drafted
    CHECK(timed.cells[0].draft_tokens == 2);
    CHECK(timed.cells[0].round.mean() == Approx(2.0 / 40));
    CHECK(of_text(answer("")).cells.at(0).accept_length() == Approx(2.5));
    CHECK_THROWS_WITH(
        of_text(R"({"usage": {"completion_tokens": 9, "completion_tokens_details": {"accepted_prediction_tokens": 0}}})"),
        Catch::Contains("none of the formats"));
}

TEST_CASE("TensorRT-LLM's serving benchmark prints the tokens of a round without counts") {
    CHECK_THROWS_WITH(from("trtllm_serving_console.txt"), Catch::Contains("--draft-tokens K"));
    const runs::MeasuredRun run = from("trtllm_serving_console.txt", drafting(3));
    REQUIRE(run.cells.size() == 1);
    CHECK(run.identity.engine == "tensorrt-llm");
    CHECK(run.cells[0].accept_length() == Approx(2.5));
    CHECK(run.cells[0].acceptance.derived);
    // Little's law: 100 requests of 0.4005 s + 127 · 16.4 ms in 20.3 s.
    CHECK(run.cells[0].batch == 12);
    // Until 2025 it printed one mean, and no statistics of requests; "P99" in front is part of a label, a launcher's prefix
    // not.
    std::ifstream file(testing::source_folder() / "tests/runs/fixtures/trtllm_serving_console.txt");
    const std::string statistics((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    for (const std::string prefix : {"", "[1,0]<stdout>:"}) {
        std::string printed;
        std::istringstream lines(statistics);
        for (std::string line; std::getline(lines, line);) {
            const bool mean = line.find("Mean Avg Decoded") == 0;
            if (mean || line.find("Avg Decoded") == std::string::npos) {
                printed += prefix + (mean ? line.substr(5) : line) + "\n";
            }
        }
        const runs::MeasuredRun older = of_text(printed, drafting(3));
        REQUIRE(older.cells.size() == 1);
        CHECK(older.identity.engine == "tensorrt-llm");
        CHECK(older.cells[0].accept_length() == Approx(2.5));
    }
    // Of one without drafts, the rate of a user tells the engine.
    std::string plain = statistics.substr(0, statistics.find("-----------Avg Decoded"));
    plain += statistics.substr(statistics.find("---------------Time to First"));
    CHECK(of_text(plain, drafting(0)).identity.engine == "tensorrt-llm");
}

TEST_CASE("what a launcher puts before each line changes nothing") {
    const auto cells_of = [](const runs::MeasuredRun& run) { return run_json(run)["cells"].dump(); };
    for (const char* name : {"vllm_steps.txt", "trtllm_steps.txt", "vllm_offline.txt", "llama_cpp_requests.txt",
                             "llama_bench_table.txt", "llama_sweep_table.txt", "llama_benchy_table.md", "llama_speculative.txt",
                             "llama_cli.txt", "vllm_metrics.txt", "sglang_metrics.txt", "trtllm_metrics.txt",
                             "sglang_bench_console.txt", "trtllm_bench_console.txt", "vllm_bench_console.txt"}) {
        std::ifstream in(testing::source_folder() / "tests/runs/fixtures" / name);
        std::vector<std::string> lines;
        std::string unprefixed;
        for (std::string line; std::getline(in, line);) {
            lines.push_back(line);
            unprefixed += line + "\n";
        }
        const runs::RunHints hints = drafting(std::string(name) == "llama_speculative.txt" ? 4 : 3);
        const std::string plain = cells_of(of_text(unprefixed, hints));
        for (const std::string prefix :
             {"0: ", "[1,0]<stdout>:", "[pod/vllm-0/vllm] ", "vllm-1  | ", "Nov 26 10:00:00 host vllm[123]: ", "    ",
              "2026-11-26T10:00:00.123456789Z stdout F ", "\x1b[36m(EngineCore_DP0 pid=2)\x1b[0;0m ", "vllm-6f5c7d9b8 vllm "}) {
            INFO(name << " after " << prefix);
            std::string text;
            for (const std::string& line : lines) {
                text += prefix + line + "\n";
            }
            CHECK(cells_of(of_text(text, hints)) == plain);
        }
    }
}

TEST_CASE("a metric may have a time after its value, and prose about one is no metric") {
    const std::string with_time =
        "vllm:spec_decode_num_drafts_total{engine=\"0\"} 100 1732600000000\n"
        "vllm:spec_decode_num_draft_tokens_total{engine=\"0\"} 300 1732600000000\n"
        "vllm:spec_decode_num_accepted_tokens_total{engine=\"0\"} 150 1732600000000\n"
        "see vllm:spec_decode_num_drafts_total for more\n";
    const runs::MeasuredRun run = of_text(with_time);
    REQUIRE(run.cells.size() == 1);
    CHECK(run.cells[0].acceptance.drafts == 100);
    CHECK(run.cells[0].accept_length() == Approx(2.5));
}

TEST_CASE("SGLang's send_one and bench_one_batch") {
    const runs::MeasuredRun one = of_text(
        "+-------------+--------+------------+-----------------+\n"
        "| Latency (s) | Tokens | Acc Length | Speed (token/s) |\n"
        "+-------------+--------+------------+-----------------+\n"
        "|    1.600    |  512   |   3.125    |     320.00      |\n",
        drafting(4));
    REQUIRE(one.cells.size() == 1);
    CHECK(one.cells[0].tpot.mean() == Approx(1.0 / 320.0));
    CHECK(one.cells[0].accept_length() == Approx(3.125));
    const runs::MeasuredRun before = of_text("acc_length=2.50\nspeed=125.00 token/s\n", drafting(4));
    REQUIRE(before.cells.size() == 1);
    CHECK(before.cells[0].round_seconds() == Approx(2.5 / 125.0));
    const runs::MeasuredRun steps = of_text(
        "Warmup ...\nPrefill. latency: 0.5 s, throughput:   4096 token/s\nDecode.  median latency: 0.00900 s, median "
        "throughput: 222.2 token/s\n"
        "Benchmark ...\nPrefill. latency: 0.5 s, throughput:   4096 token/s\nDecode.  latency: 0.00810 s, throughput: 246.9 "
        "token/s\n"
        "Decode.  median latency: 0.00800 s, median throughput: 250.0 token/s\n");
    REQUIRE(steps.cells.size() == 1);
    CHECK(steps.identity.engine == "sglang");
    CHECK(steps.cells[0].batch == 2);       // 8 ms times 250 tokens/s
    CHECK(steps.cells[0].context == 1024);  // half of 2,048 tokens
    CHECK(steps.cells[0].round.mean() == Approx(0.008));
}

TEST_CASE("aiperf's console: the mean of each metric; requests in flight by Little's law") {
    const runs::MeasuredRun run = of_text(
        "┃                               Metric ┃      avg ┃    min ┃  p99 ┃ p50 ┃\n"
        "┡━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━╇━━━━━━╇━━━━━┩\n"
        "│             Time to First Token (ms) │    50.00 │  35.02 │ 110  │ 48  │\n"
        "│                 Request Latency (ms) │ 2,000.00 │ 800.10 │ 2490 │ 1950│\n"
        "│             Inter Token Latency (ms) │     8.00 │   6.50 │ 10.0 │ 8.1 │\n"
        "│      Output Sequence Length (tokens) │   200.00 │ 100.00 │ 228  │ 200 │\n"
        "│       Input Sequence Length (tokens) │   100.00 │  20.00 │ 280  │  60 │\n"
        "│ Output Token Throughput (tokens/sec) │   800.00 │    N/A │ N/A  │ N/A │\n"
        "│    Request Throughput (requests/sec) │     4.00 │    N/A │ N/A  │ N/A │\n");
    REQUIRE(run.cells.size() == 1);
    CHECK(run.cells[0].batch == 8);  // 4 requests/s times 2 s
    CHECK(run.cells[0].tpot.mean() == Approx(0.008));
    CHECK(run.cells[0].context == 200);
}

TEST_CASE("statistics of which the last were cut off are still of one run") {
    const runs::MeasuredRun run = of_text(
        "| Metric | avg | min | max |\n|---|---|---|---|\n| Request Latency (ms) | 2000 | 800 | 2490 |\n"
        "| Inter Token Latency (ms) | 8.00 | 6.50 | 21.0 |\n| Output Sequence Length (tokens) | 200 | 100 | 228 |\n"
        "| Request Throughput (requests/sec) | 4.00 | N/A | N/A |\n");
    REQUIRE(run.cells.size() == 1);
    CHECK(run.cells[0].tpot.mean() == Approx(0.008));
}

TEST_CASE("llama.cpp's rounds, requests without a time, slots and adaptive lengths") {
    // Pull request 18211: rounds of 2 drafts that accept 2, 0 and 1.
    const std::string round = "slot update_slots: id  0 | task 0 | accepted ", end = " draft tokens, new n_tokens = 661\n";
    const runs::MeasuredRun rounds =
        of_text(round + "2/2" + end + round + "0/2" + end + round + "1/2" + end + round + "11/0" + end);
    REQUIRE(rounds.cells.size() == 1);
    CHECK(rounds.cells[0].acceptance.drafts == 3);
    CHECK(rounds.cells[0].acceptance.reached == std::vector<double>{2, 1});
    CHECK(rounds.remarks[0].find("more than they drafted were left out") != std::string::npos);
    const runs::MeasuredRun untimed = of_text(
        "slot print_timing: id  0 | task 0 | draft acceptance = 0.60000 (   60 accepted /   100 generated), mean len =  "
        "2.20\n");
    REQUIRE(untimed.cells.size() == 1);
    CHECK(untimed.cells[0].acceptance.drafts == 50);  // 60 / 1.2
    CHECK(untimed.cells[0].draft_tokens == 2);
    const runs::MeasuredRun slots = of_text(
        "spec accept: adaptive n : 1 -> 2 (seq 0, n_draft=1, n_accepted=1)\n"
        "slot print_timing: id  0 | task 0 | draft acceptance = 0.60000 (   60 accepted /   100 generated), mean len =  2.20\n"
        "slot print_timing: id  1 | task 1 | draft acceptance = 0.03000 (    3 accepted /   100 generated), mean len =  "
        "1.06\n");
    std::string all;
    for (const std::string& remark : slots.remarks) {
        all += remark + "\n";
    }
    CHECK(all.find("The draft length was adaptive") != std::string::npos);
    CHECK(all.find("slot 1 accepts 3.0 % of its drafts and slot 0 60.0 %: this looks like a defect") != std::string::npos);
}

TEST_CASE("counters as Prometheus' own page prints them") {
    const std::string labels = "{engine=\"0\", instance=\"localhost:8000\", job=\"vllm\", model_name=\"m\"} | ";
    const runs::MeasuredRun run =
        of_text("vllm:spec_decode_num_drafts_total" + labels + "80\nvllm:spec_decode_num_draft_tokens_total" + labels +
                "240\nvllm:spec_decode_num_accepted_tokens_total" + labels + "120\n");
    CHECK(run.acceptance(3).accept_length() == Approx(2.5));
}

TEST_CASE("evalscope's summary of a load: seconds, and tokens of each request") {
    const auto row = [](const std::string& key, const std::string& value) {
        return "| " + key + " | " + value + " |\n+---+---+\n";
    };
    std::string text = "Benchmarking summary:\n+---+---+\n| Key | Value |\n+===+===+\n" + row("Number of concurrency", "8") +
                       row("Succeed requests", "100") + row("Output token throughput (tok/s)", "400.0") +
                       row("Average time to first token (s)", "0.25") + row("Average time per output token (s)", "0.0180") +
                       row("Average input tokens per request", "1000.0") + row("Average output tokens per request", "200.0");
    const runs::MeasuredRun run = of_text(text);
    const runs::RunCell& cell = with_drafts(run, 0);
    CHECK(cell.batch == 8);
    CHECK(cell.tpot_seconds() == Approx(0.018));
    CHECK(cell.ttft.mean() == Approx(0.25));
    CHECK(cell.prompt_tokens == 1000);
    CHECK(cell.output_tokens == 200);
    CHECK(cell.context == 1100);
    CHECK(run.identity.engine.empty());  // it measures any server
    text += row("Average decoded tokens per iter", "2.5");
    CHECK_THROWS_WITH(of_text(text), Catch::Contains("--draft-tokens K"));
    CHECK(with_drafts(of_text(text, drafting(3)), 3).accept_length() == Approx(2.5));
}

TEST_CASE("vLLM's offline example prints fewer positions than it drafts") {
    const runs::MeasuredRun run = of_text(
        "Number of draft proposals: 1,000\nNumber of draft tokens generated: 3,000\nNumber of accepted tokens: 1,400\n"
        "Acceptance rate at token 0: 0.80\nAcceptance rate at token 1: 0.40\n");
    CHECK(with_drafts(run, 3).accept_length() == Approx(2.4));
    CHECK(run.remarks.front().find("rates of 2 of 3 positions") != std::string::npos);
    // Or more of them: 2,025 tokens in 675 drafts are three each.
    const runs::MeasuredRun more = of_text(
        "num_drafts: 675\nnum_draft_tokens: 2025\nnum_accepted_tokens: 810\nacceptance at token 0: 0.60\nacceptance at token "
        "1: "
        "0.40\nacceptance at token 2: 0.20\nacceptance at token 3: 0.00\nacceptance at token 4: 0.00\n");
    CHECK(with_drafts(more, 3).acceptance.positions().size() == 3);
    CHECK(with_drafts(more, 3).accept_length() == Approx(2.2));
}

TEST_CASE("lines on draft acceptance alone say what they lack") {
    const std::string line = "draft acceptance = 0.50000 (   30 accepted /    60 generated)\n";
    CHECK_THROWS_WITH(of_text(line), Catch::Contains("--draft-tokens K makes rounds of them"));
    CHECK(with_drafts(of_text(line, drafting(3)), 3).accept_length() == Approx(1 + 30.0 / 20));
}

TEST_CASE("aiperf's rate without a draft length is no plain decoding") {
    const std::string table = "| Metric | avg |\n|---|---|\n| Inter Token Latency (ms) | 8.0 |\n| acceptance_rate | 0.5 |\n";
    CHECK_THROWS_WITH(of_text(table), Catch::Contains("gives an acceptance rate, but not how many tokens were drafted"));
    CHECK(with_drafts(of_text(table, drafting(4)), 4).accept_length() == Approx(3.0));
    // In percent it is the same, and 85 % of 16 drafts are more than any drafter is known to reach.
    const auto with_rate = [](const char* rate) {
        return fmt::format("| Metric | avg |\n|---|---|\n| Inter Token Latency (ms) | 8.0 |\n| acceptance_rate | {} |\n", rate);
    };
    CHECK(with_drafts(of_text(with_rate("50"), drafting(4)), 4).accept_length() == Approx(3.0));
    const runs::MeasuredRun too_good = of_text(with_rate("0.85"), drafting(16));
    CHECK(with_drafts(too_good, 16).stated_length == 0.0);
    REQUIRE_FALSE(too_good.remarks.empty());
    CHECK_THAT(too_good.remarks.front(), Catch::Contains("more than any drafter is known to reach"));
}

}  // namespace script_reports_test
