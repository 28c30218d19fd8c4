// Tables that threads quote, logs of single steps, and what scripts around the engines print. The fixtures are written anew in
// those forms; expected values are arithmetic on them.
#include <fstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "runs/own_file.h"
#include "runs/run.h"
#include "source_folder.h"
#include "text/input_error.h"

namespace tables_test {

using namespace treeline;

namespace {

runs::MeasuredRun from(const std::string& name, const runs::RunHints& hints = {}) {
    return runs::import_runs({(testing::source_folder() / "tests/runs/fixtures" / name).string()}, hints);
}

runs::MeasuredRun of_text(const std::string& text, const runs::RunHints& hints = {}) {
    return runs::import_run_text(text, "file", hints);
}

runs::RunHints drafting(int tokens) {
    runs::RunHints hints;
    hints.draft_tokens = tokens;
    return hints;
}

}  // namespace

TEST_CASE("llama-bench's table: a step of a generation, a pass over a prompt") {
    const runs::MeasuredRun run = from("llama_bench_table.txt");
    CHECK(run.identity.engine == "llama.cpp");
    CHECK(run.identity.model == "qwen35 27B Q4_K - Medium");
    REQUIRE(run.cells.size() == 2);
    CHECK(run.cells[0].round.mean() == Approx(1.0 / 41.0));
    CHECK(run.cells[0].context == 64);  // half of 128 tokens
    CHECK(run.cells[1].round.mean() == Approx(1.0 / 36.0));
    CHECK(run.cells[1].context == 8192 + 64);
    REQUIRE(run.passes.size() == 2);
    CHECK(run.passes[1].tokens == 4);
    CHECK(run.passes[1].seconds.mean() == Approx(4.0 / 125.0));
}

TEST_CASE("a table's columns are told by their names, in any order and with a prefix before each row") {
    const std::string head = "| test | t/s | model |\n|---|---|---|\n", row = "| **tg 64** | 50.0 ± 0.1 | some-7b |\n";
    for (const std::string prefix : {"", "[0] ", "> ", "worker-1  | "}) {
        INFO(prefix);
        std::string text;
        for (const std::string& line : {std::string("| test | t/s | model |\n"), std::string("|---|---|---|\n"), row}) {
            text += prefix + line;
        }
        const runs::MeasuredRun run = of_text(text);
        REQUIRE(run.cells.size() == 1);
        CHECK(run.cells[0].round.mean() == Approx(0.02));
    }
    CHECK_THROWS_WITH(of_text(head + row + "| tg 64 | 80.0 | other-1b |\n"), Catch::Contains("is of the model other-1b"));
    CHECK_THROWS_WITH(of_text(head + "| tg 64 | none | some-7b |\n"), Catch::Contains("line 3") && Catch::Contains("a rate"));
    CHECK_THROWS_WITH(of_text("| name | age |\n|---|---|\n| a | 3 |\n"), Catch::Contains("none of the formats"));
}

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

}  // namespace tables_test
