// What people paste: consoles, logs with prefixes of launchers, logs of several engines, and what the start of a log says of
// the deployment. The fixtures are written anew in the engines' forms; expected values are arithmetic on them.
#include <fstream>
#include <sstream>
#include <tuple>

#include <catch2/catch.hpp>

#include "runs/run.h"
#include "source_folder.h"
#include "text/input_error.h"

namespace pasted_test {

using namespace treeline;

namespace {

std::string fixture(const std::string& name) { return (testing::source_folder() / "tests/runs/fixtures" / name).string(); }

runs::MeasuredRun imported(const std::string& name, const runs::RunHints& hints = {}) {
    return runs::import_runs({fixture(name)}, hints);
}

runs::MeasuredRun read(const std::string& text, const runs::RunHints& hints = {}) {
    return runs::import_run_text(text, "file", hints);
}

const runs::RunCell& at(const runs::MeasuredRun& run, double batch, int draft_tokens) {
    for (const runs::RunCell& cell : run.cells) {
        if (cell.batch == batch && cell.draft_tokens == draft_tokens) {
            return cell;
        }
    }
    FAIL("no cell at batch " << batch << " with " << draft_tokens << " draft tokens");
    return run.cells.front();
}

bool remarks(const runs::MeasuredRun& run, const std::string& words) {
    for (const std::string& remark : run.remarks) {
        if (remark.find(words) != std::string::npos) {
            return true;
        }
    }
    return false;
}

/// Each line with a prefix before it.
std::string prefixed(const std::string& name, const std::string& prefix) {
    std::ifstream in(fixture(name));
    std::string text;
    for (std::string line; std::getline(in, line);) {
        text += prefix + line + "\n";
    }
    return text;
}

}  // namespace

TEST_CASE("a console report of vllm bench serve is read like its file") {
    const runs::MeasuredRun run = imported("vllm_bench_console.txt");
    const runs::RunCell& cell = at(run, 16, 3);
    CHECK(cell.acceptance.drafts == 16000);
    CHECK(cell.acceptance.positions() == std::vector<double>{0.8, 0.5, 0.2});
    CHECK(cell.prompt_tokens == 300);
    CHECK(cell.context == 400);
    CHECK(cell.round_seconds() == Approx(0.042));
    CHECK(cell.tpot_seconds() == Approx(0.0185));
    CHECK(cell.ttft.mean() == Approx(0.120));
    CHECK(cell.tokens_per_second.mean() == Approx(800));
}

TEST_CASE("console reports of SGLang and TensorRT-LLM") {
    const runs::MeasuredRun sglang = imported("sglang_bench_console.txt");
    CHECK(sglang.identity.engine == "sglang");
    CHECK(at(sglang, 8, 0).tpot_seconds() == Approx(0.0191));
    CHECK(at(sglang, 0, 0).tokens_per_second.mean() == Approx(2000));  // all requests at once: no concurrency is printed
    const runs::MeasuredRun trtllm = imported("trtllm_bench_console.txt");
    CHECK(trtllm.identity.ranks == 2);
    const runs::RunCell& cell = at(trtllm, 8, 3);  // 120 accepted at 1.5 a round are 80 rounds of 240 drafts
    CHECK(cell.accept_length() == Approx(2.5));
    CHECK(cell.tpot_seconds() == Approx(0.006));
}

TEST_CASE("a prefix of a launcher changes nothing") {
    for (const char* name : {"sglang_log.txt", "llama_cpp_log.txt", "vllm_log_new.txt", "vllm_bench_console.txt"}) {
        const runs::MeasuredRun plain = read(prefixed(name, ""));
        for (const char* prefix : {"[0] ", "[40123] ", "[1,3]<stdout>:", "[pod/engine-0/server] ", "engine-1  | ", "> ",
                                   "Mar 02 11:00:01 host engine[77]: ", "2026-03-02T11:00:01.123456789Z ", "\x1b[36m"}) {
            INFO(name << " after " << prefix);
            const runs::MeasuredRun same = read(prefixed(name, prefix));
            REQUIRE(same.cells.size() == plain.cells.size());
            for (std::size_t i = 0; i < plain.cells.size(); ++i) {
                CHECK(same.cells[i].batch == plain.cells[i].batch);
                CHECK(same.cells[i].draft_tokens == plain.cells[i].draft_tokens);
                CHECK(same.cells[i].acceptance.drafts == plain.cells[i].acceptance.drafts);
                CHECK(same.cells[i].round_seconds() == plain.cells[i].round_seconds());
            }
        }
    }
    // JSON lines within a log, too.
    CHECK(read(prefixed("sglang_responses.jsonl", "[0] ")).acceptance(3).drafts == 57);
    CHECK(read(prefixed("llama_cpp_responses.jsonl", "server-1  | ")).acceptance(3).drafts == 159);
}

TEST_CASE("llama.cpp's own counts: rounds, and acceptance by position") {
    const runs::MeasuredRun run = imported("llama_cpp_router.txt");
    const runs::RunCell& cell = at(run, 1, 3);
    CHECK(cell.acceptance.drafts == 100);  // 251 tokens less the first and 150 drafts
    CHECK(cell.acceptance.positions() == std::vector<double>{0.8, 0.5, 0.2});
    CHECK(cell.round_seconds() == Approx(0.030));
    // Twenty answers of 21 tokens, each of eight rounds that accept twelve drafts in all.
    std::string answers;
    for (int i = 0; i < 20; ++i) {
        answers += R"({"timings": {"predicted_n": 21, "predicted_ms": 200, "draft_n": 24, "draft_n_accepted": 12}})"
                   "\n";
    }
    CHECK(at(read(answers), 1, 3).acceptance.drafts == 160);
    CHECK(at(read(answers), 1, 3).accept_length() == Approx(2.5));
}

TEST_CASE("engines of data parallelism are told apart, and sums over them are told as sums") {
    const runs::MeasuredRun run = imported("vllm_log_engines.txt");
    CHECK(at(run, 4, 3).round_seconds() == Approx(0.040));
    CHECK(at(run, 10, 3).round_seconds() == Approx(0.050));
    CHECK(run.acceptance(3).drafts == 3 * (1000 + 2000));
    CHECK(run.settings.data_parallel == 2);
    CHECK(remarks(run, "2 engines of data parallelism"));
    CHECK(remarks(run, "2 of 6 intervals with drafts gave acceptance, but no time"));  // the first of each engine
    const runs::MeasuredRun sums = imported("vllm_log_aggregated.txt");
    CHECK(at(sums, 4, 3).round_seconds() == Approx(0.040));
    CHECK(remarks(sums, "sums over them"));
    const runs::MeasuredRun ranks = imported("sglang_log_ranks.txt");
    CHECK(at(ranks, 4, 3).round_seconds() == Approx(0.040));
    CHECK(at(ranks, 6, 3).round_seconds() == Approx(0.050));
    CHECK(at(ranks, 4, 3).round.times() == 2);
}

TEST_CASE("SGLang's accept rate tells the draft length, in both of its meanings") {
    const auto lines = [](const char* first, const char* second) {
        const std::string begin = "[2026-03-02 11:00:00 TP0] Decode batch. #running-req: 1, #token: 296, ",
                          end = ", cuda graph: True, gen throughput (token/s): 200.00, #queue-req: 0\n";
        return begin + first + end + begin + second + end;
    };
    // (τ − 1)/K with K = 4; τ/(K + 1) with K = 3.
    CHECK(read(lines("accept len: 2.80, accept rate: 0.45", "accept len: 3.00, accept rate: 0.50")).draft_lengths() ==
          std::vector<int>{4});
    CHECK(read(lines("accept len: 2.40, accept rate: 0.60", "accept len: 2.20, accept rate: 0.55")).draft_lengths() ==
          std::vector<int>{3});
    CHECK_THROWS_WITH(read(lines("accept len: 2.40, accept rate: 0.60", "accept len: 2.20, accept rate: 0.10")),
                      Catch::Contains("--draft-tokens K"));
}

TEST_CASE("SGLang's answers: lines of finished requests, and sglext") {
    const runs::MeasuredRun log = imported("sglang_log_finish.txt");
    CHECK(log.acceptance(3).drafts == 120);
    CHECK(log.acceptance(3).accepted == 160 + 40);
    CHECK(log.acceptance(3).drafts_with_positions == 20);
    CHECK(log.acceptance(3).positions()[0] == Approx(18.0 / 20));
    const runs::MeasuredRun chat = imported("sglang_sglext.json");
    CHECK(chat.acceptance(4).accept_length() == Approx(2.6));
    CHECK(chat.acceptance(4).positions() == std::vector<double>{0.8, 0.44, 0.24, 0.12});
    const runs::MeasuredRun info = read(
        R"({"server_args": {"model_path": "m", "tp_size": 2, "speculative_num_draft_tokens": 6}, "internal_states": [{"avg_spec_accept_length": 3.1}]})");
    CHECK(info.identity.ranks == 2);
    CHECK(info.cells.front().draft_tokens == 5);
}

TEST_CASE("what vLLM's log says of the deployment") {
    const runs::MeasuredRun run = imported("vllm_log_settings.txt");
    CHECK(run.identity.method == "eagle3");
    CHECK(run.identity.model == "org/Big-27B");
    CHECK(run.identity.drafter == "org/Big-27B-Eagle3");
    CHECK(run.identity.version == "0.27.1");
    CHECK(run.identity.ranks == 8);
    CHECK(run.settings.graphs == runs::GraphMode::piecewise);
    CHECK(run.settings.graphs_because.starts_with("CUDAGraphMode.FULL_AND_PIECEWISE is not supported with spec-decode"));
    CHECK(run.settings.cache_format == "fp8_e4m3");
    CHECK(run.settings.weights == "modelopt");
    CHECK(run.settings.attention == "FLASHINFER");
    CHECK(run.settings.scheduling == "asynchronous");
    const runs::MeasuredRun eager =
        read("INFO [core.py:9] Initializing a V1 LLM engine (v0.27.1) with config: model='m', enforce_eager=True, x=1\n");
    CHECK(eager.settings.graphs == runs::GraphMode::none);
}

TEST_CASE("metrics of SGLang and TensorRT-LLM become counts") {
    const runs::MeasuredRun trtllm = imported("trtllm_metrics.txt");
    CHECK(at(trtllm, 8, 3).acceptance.drafts == 1000);
    CHECK(at(trtllm, 8, 3).accept_length() == Approx(2.5));
    CHECK(at(trtllm, 8, 3).tpot_seconds() == Approx(0.012));
    const runs::MeasuredRun sglang = imported("sglang_metrics.txt");
    CHECK(sglang.acceptance(3).drafts == 400);  // 1,010 tokens less the first of ten answers
    CHECK(sglang.acceptance(3).accept_length() == Approx(2.5));
    // A mean without counts tells no draft length.
    const std::string mean = "trtllm_spec_decode_acceptance_length{model_name=\"m\"} 2.4\n";
    CHECK_THROWS_WITH(read(mean), Catch::Contains("--draft-tokens K says it"));
    runs::RunHints hints;
    hints.draft_tokens = 3;
    CHECK(runs::import_run_text(mean, "metrics", hints).cells.front().stated_length == Approx(2.4));
    hints.draft_tokens = 1;
    CHECK_THROWS_WITH(runs::import_run_text(mean, "metrics", hints), Catch::Contains("more than can be"));
}

TEST_CASE("oMLX, llama-benchy and InferenceX") {
    const runs::MeasuredRun mlx = imported("omlx_log.txt");
    CHECK(at(mlx, 1, 3).acceptance.positions() == std::vector<double>{0.8, 0.5, 0.2});
    CHECK(at(mlx, 1, 3).round_seconds() == Approx(0.040));
    CHECK(at(mlx, 1, 3).context == 8126);
    CHECK(at(mlx, 1, 0).tpot_seconds() == Approx(0.040));
    const runs::MeasuredRun benchy = imported("llama_benchy.json");
    CHECK(benchy.cells.size() == 1);
    CHECK(at(benchy, 2, 0).tpot_seconds() == Approx(0.025));
    CHECK(at(benchy, 2, 0).context == 4096 + 512 + 64);
    const runs::MeasuredRun point = imported("inferencex.json");
    CHECK(at(point, 16, 0).tpot_seconds() == Approx(0.020));
    CHECK(at(point, 16, 0).tokens_per_second.mean() == Approx(780));
    // The benchmark's own file, in which InferenceX gives medians in seconds.
    const runs::MeasuredRun raw = read(
        R"({"model_id": "m", "max_concurrency": 16, "completed": 160, "total_input_tokens": 160000, "total_output_tokens": 16000,
            "output_throughput": 400, "median_ttft": 0.3, "median_tpot": 0.034})");
    CHECK(at(raw, 16, 0).tpot_seconds() == Approx(0.034));
    CHECK(at(raw, 16, 0).ttft.mean() == Approx(0.3));
    CHECK_THAT(raw.remarks.front(), Catch::Contains("its median was taken"));
    CHECK_THROWS_WITH(read(R"({"conc": 4, "isl": 10, "osl": 10, "spec_decoding": "mtp", "mean_tpot": 0.02})"),
                      Catch::Contains("--draft-tokens K"));
}

TEST_CASE("results of two runs side by side, a metric in each row") {
    const std::string rows =
        "### Results, concurrency = 64\n| Metric | MTP 1 | MTP 8 | Change |\n|---|---|---|---|\n"
        "| Output token throughput (tok/s) | 1646.15 | 2148.42 | +30.5% |\n| Median TPOT (ms) | 37.18 | 27.48 | -26.1% |\n"
        "| Acceptance length | 1.84 | 4.40 | +139.1% |\n| Draft tokens | 246,348 | 839,040 | +240.6% |\n"
        "| Accepted tokens | 205,916 | 356,839 | +73.3% |\n";
    const runs::MeasuredRun run = read(rows);
    CHECK(run.cells.size() == 2);
    CHECK(at(run, 64, 1).acceptance.drafts == 246348);  // 246348·0.84/205916 = 1.005 drafts a round
    CHECK(at(run, 64, 1).accept_length() == Approx(1.0 + 205916.0 / 246348));
    CHECK(at(run, 64, 8).acceptance.drafts == 839040 / 8);
    CHECK(at(run, 64, 8).tpot_seconds() == Approx(0.02748));
    const runs::MeasuredRun by_position = read(
        "| Metric | with |\n|---|---|\n| Mean TPOT (ms) | 20.0 |\n| Draft tokens | 2,000 |\n| Accepted tokens | 1,357 |\n"
        "| Per-position acceptance (%) — Pos 0 | 75.68 |\n| Per-position acceptance (%) — Pos 1 | 60.02 |\n");
    CHECK(by_position.cells.front().draft_tokens == 2);
    CHECK(by_position.cells.front().acceptance.drafts == 1000);
    CHECK(by_position.cells.front().acceptance.positions()[1] == Approx(0.6));

    runs::RunHints three;
    three.draft_tokens = 3;
    const runs::MeasuredRun sglang = read(
        "| Metric | off | on | % Difference |\n|---|---|---|---|\n| Total generated tokens | 65536 | 65536 | 0% |\n"
        "| Total generated tokens (retokenized) | 65349 | 65372 | +0.04% |\n| Concurrency | 1.00 | 1.00 | 0% |\n"
        "| Accept length | - | 2.69 | N/A |\n| Mean TPOT (ms) | 12.02 | 6.53 | -45% |\n",
        three);
    CHECK(sglang.identity.engine == "sglang");
    CHECK(at(sglang, 1, 0).tpot_seconds() == Approx(0.01202));
    CHECK(at(sglang, 1, 3).accept_length() == Approx(2.69));
    CHECK(at(sglang, 1, 3).output_tokens == 0.0);  // of how many requests the totals are is not said
    const runs::MeasuredRun of_requests = read(
        "| Metric | off |\n|---|---|\n| Total input tokens | 65536 |\n| Total generated tokens | 32768 |\n"
        "| Request throughput (req/s) | 0.16 |\n| Output token throughput (tok/s) | 81.92 |\n| Mean TPOT (ms) | 12.02 |\n");
    CHECK(of_requests.cells.front().prompt_tokens == Approx(1024));  // 0.16 requests/s for 400 s
    CHECK(of_requests.cells.front().output_tokens == Approx(512));
    CHECK_THROWS_AS(read("| Metric | off | on |\n|---|---|---|\n| Colour | red | blue |\n"), text::InputError);
}

TEST_CASE("loads of a serving benchmark, one in each row") {
    const runs::MeasuredRun run = read(
        "| Concurrency | Num Requests | ISL | OSL | TTFT (ms) | TPOT (ms) | Req Tput (RPS) |\n|:--|:--|:--|:--|:--|:--|:--|\n"
        "| 1 | 8 | 127 | 128 | 29.6 | 7.8 | 0.981 |\n| 32 | 256 | 127 | 128 | 699.0 | 9.2 | 17.105 |\n");
    CHECK(at(run, 32, 0).tpot_seconds() == Approx(0.0092));
    CHECK(at(run, 32, 0).ttft.mean() == Approx(0.699));
    CHECK(at(run, 1, 0).context == Approx(127 + 64));
}

TEST_CASE("ik_llama.cpp's log is told from llama.cpp's") {
    const auto times = [](const std::string& timestamp) {
        return "INFO [           print_timings] prompt eval time     =    1520.31 ms /   801 tokens (    1.90 ms per token,   "
               "526.87 "
               "tokens per second) | tid=\"1400\" timestamp=" +
               timestamp +
               " id_slot=0 id_task=0\n"
               "INFO [           print_timings] generation eval time =   10010.20 ms /   256 runs   (   39.10 ms per token,    "
               "25.57 "
               "tokens per second) | tid=\"1400\" timestamp=" +
               timestamp + " id_slot=0 id_task=0\n";
    };
    CHECK(read(times("1760000001")).identity.engine == "ik_llama.cpp");
    CHECK(read(times("1715000001")).identity.engine == "llama.cpp");  // of May 2024, when both printed so
    const std::string slot =
        "slot print_timing: id  0 | task 0 |\nprompt eval time =     120.00 ms /    80 tokens\n       eval time =    2550.00 "
        "ms / "
        "  256 tokens\n      total time =    2670.00 ms /   336 tokens\n";
    CHECK(read(slot).identity.engine == "llama.cpp");
    CHECK(read("llama_init_from_model: fused_moe     = 1\n" + slot).identity.engine == "ik_llama.cpp");
}

TEST_CASE("ik_llama.cpp's bench of speculation has counts, positions and times") {
    const runs::MeasuredRun run = read(
        "| task | run | stage | tokens | stop | time(s) | tok/s | rounds | accepted | rate | a.len | pos accept |\n"
        "|------|-----|-------|--------|------|---------|-------|--------|----------|------|-------|------------|\n"
        "| code | 1 | base | 800 | eog | 20.0 | 40.0 | - | - | - | - | - |\n"
        "| code | 1 | mtp | 759 | eog | 11.068 | 68.58 | 220 | 538/660 | 81.52% | 3.45 | 90.5% 80.5% 73.6% |\n"
        "| extract | 1 | mtp | 1024 | limit | 15.219 | 67.28 | 300 | 722/899 | 80.31% | 3.41 | 91.3% 80.0% 69.6% |\n");
    const runs::RunCell& drafts = at(run, 1, 3);
    CHECK(drafts.acceptance.drafts == 520);
    CHECK(drafts.acceptance.accepted == 538 + 722);
    CHECK(drafts.acceptance.positions()[0] == Approx((199.0 + 274.0) / 520));
    CHECK(drafts.round_seconds() == Approx((11.068 + 15.219) / 520));
    CHECK(at(run, 1, 0).round_seconds() == Approx(20.0 / 800));
}

TEST_CASE("the speculative part of a console report alone gives acceptance") {
    for (const std::string prefix : {"", "bench-1  | "}) {
        INFO(prefix);
        std::string text;
        for (const char* line :
             {"---------------Speculative Decoding---------------", "Acceptance rate (%):                     60.00     ",
              "Acceptance length:                       2.20      ", "Drafts:                                  1000      ",
              "Draft tokens:                            2000      ", "Accepted tokens:                         1200      ",
              "Per-position acceptance (%):", "  Position 0:                            80.00     ",
              "  Position 1:                            40.00     ", "=================================================="}) {
            text += prefix + line + "\n";
        }
        const runs::MeasuredRun run = read(text);
        REQUIRE(run.cells.size() == 1);
        CHECK(run.cells.front().draft_tokens == 2);
        CHECK(run.cells.front().acceptance.positions() == std::vector<double>{0.8, 0.4});
        CHECK_FALSE(run.cells.front().tpot.known());
    }
}

TEST_CASE("counters of Rapid-MLX, by depth and without") {
    const std::string legacy =
        "rapid_mlx_spec_decode_attempts_total{method=\"mtp\"} 300\nrapid_mlx_spec_decode_accepts_total{method=\"mtp\"} 150\n";
    CHECK_THROWS_WITH(read(legacy), Catch::Contains("not how many of them a draft has"));
    runs::RunHints three;
    three.draft_tokens = 3;
    CHECK(at(read(legacy, three), 0, 3).accept_length() == Approx(2.5));  // 150 of 100 drafts
    std::string depths = legacy;
    for (const auto& [depth, drafted, accepted] : {std::tuple{1, 120, 90}, {2, 100, 40}, {3, 80, 20}}) {
        const std::string labels = "{method=\"mtp\",depth=\"" + std::to_string(depth) + "\"} ";
        depths += "rapid_mlx_spec_decode_drafted_by_depth_total" + labels + std::to_string(drafted) + "\n";
        depths += "rapid_mlx_spec_decode_accepted_by_depth_total" + labels + std::to_string(accepted) + "\n";
    }
    const runs::MeasuredRun run = read(depths);
    CHECK(run.identity.engine == "mlx");
    REQUIRE(run.cells.size() == 1);
    CHECK(run.cells.front().acceptance.drafts == 120);
    CHECK(run.cells.front().accept_length() == Approx(1 + 150.0 / 120));
    CHECK_THROWS_WITH(read("rapid_mlx_spec_decode_drafted_by_depth_total{depth=\"0\"} 3\n"), Catch::Contains("name the depth"));
}

TEST_CASE("a line of TabbyAPI that speaks of drafts is no plain decoding") {
    const auto line = [](const std::string& drafts) {
        return "Metrics (ID: 2b3c): 401 tokens generated in 5.1 seconds (Queue: 0.0 s, Process: 0 cached tokens and 99 new "
               "tokens at "
               "1000.0 T/s, Generate: 80.0 T/s, Context: 99 tokens" +
               drafts + ")\n";
    };
    CHECK(at(read(line("")), 1, 0).tpot_seconds() == Approx(1.0 / 80));
    CHECK_THROWS_WITH(read(line(", Draft acceptance: 60.0%")), Catch::Contains("speaks of drafts"));
    runs::RunHints two;
    two.draft_tokens = 2;
    for (const std::string drafts : {", Draft acceptance: 60.0%", ", Draft: 30 accepted, 20 rejected"}) {
        INFO(drafts);
        CHECK(at(read(line(drafts), two), 1, 2).accept_length() == Approx(2.2));  // 1 + 0.6 x 2
    }
}

TEST_CASE("answers that count rounds are of mlx-vlm") {
    const std::string timings =
        R"({"timings":{"prompt_n":20,"predicted_n":101,"predicted_ms":1000.0,"draft_n":100,"draft_n_accepted":60)";
    CHECK(read(timings + R"(,"draft_kind":"mtp","draft_rounds":40}})" + "\n").identity.engine == "mlx");
    CHECK(read(timings + "}}\n").identity.engine == "llama.cpp");
}

}  // namespace pasted_test
