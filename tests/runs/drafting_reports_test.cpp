// Is a report that counts no drafts taken as drafted where what stands above it says so? The numbers are made up.
#include <catch2/catch.hpp>

#include "typed_run.h"

namespace drafting_reports_test {

using namespace treeline;
using namespace treeline::testing::typed;

/// A report of SGLang's client: requests of 100 tokens and 100 tokens of answers.
std::string report_of(int milliseconds, const std::string& accept_length = "") {
    return fmt::format(
        "============ Serving Benchmark Result ============\nBackend:  sglang\nMax request concurrency:  8\n"
        "Successful requests:  10\nTotal input tokens:  1000\nTotal generated tokens:  1000\nMean TPOT (ms):  {}\n{}"
        "==================================================\n\n",
        milliseconds, accept_length.empty() ? "" : "Accept length:  " + accept_length + "\n");
}

TEST_CASE("a report of SGLang without an accept length is of the set-up above it") {
    const std::string command =
        "python -m sglang.launch_server --model-path m --speculative-algorithm EAGLE3 --speculative-num-steps 3 "
        "--speculative-eagle-topk 1 --speculative-num-draft-tokens 4\n\n";
    const runs::MeasuredRun run = read(command + report_of(20));
    CHECK(cells_of(run) == "8/3/150: 20000");
    CHECK(says(remarks_of(run), "without an accept length"));
    const std::string without_length = "python -m sglang.launch_server --model-path m --speculative-algorithm DFLASH\n\n";
    CHECK(says(refusal(without_length + report_of(20)), "--draft-tokens K"));
    CHECK(cells_of(read(without_length + report_of(20), 15)) == "8/15/150: 20000");
    CHECK(says(refusal("with dflash:\n\n" + report_of(20)), "--draft-tokens K"));
    CHECK(cells_of(read("with dflash:\n\n" + report_of(20), 15)) == "8/15/150: 20000");
}

TEST_CASE("a report of SGLang without an accept length is plain where nothing drafts, or another has one") {
    const std::string command =
        "python -m sglang.launch_server --model-path m --speculative-algorithm EAGLE3 --speculative-num-steps 3 "
        "--speculative-eagle-topk 1 --speculative-num-draft-tokens 4\n\n";
    CHECK(cells_of(read(report_of(40))) == "8/0/150: 40000");
    CHECK(cells_of(read("Baseline:\n\n" + report_of(40), 3)) == "8/0/150: 40000");
    CHECK(cells_of(read(command + report_of(40) + report_of(20, "2.5"))) == "8/0/150: 40000, 8/3/150: 20000");
    CHECK(cells_of(read("python -m sglang.launch_server --model-path m\n\n" + report_of(40) + command + report_of(20))) ==
          "8/0/150: 40000, 8/3/150: 20000");
}

TEST_CASE("a table of evalscope is of the title above it") {
    const std::string table =
        "Benchmarking summary:\n+-----+-----+\n| Key | Value |\n+=====+=====+\n| Number of concurrency | 20 |\n"
        "| Total requests | 100 |\n| Average time per output token (s) | 0.1 |\n+-----+-----+\n";
    const std::string title = "Results with EAGLE-3 enabled:\n\n";
    CHECK(says(refusal(title + table), "--draft-tokens K"));
    CHECK(cells_of(read(title + table, 3)) == "20/3/0: 100000");
    CHECK(cells_of(read("Results without EAGLE-3:\n\n" + table, 3)) == "20/0/0: 100000");
}

TEST_CASE("times of llama.cpp under a heading that drafts are not plain") {
    // 880 ms for 441 tokens, the first of which the prompt gave.
    const std::string times =
        "       eval time =     880.00 ms /   441 tokens (    2.00 ms per token,   501.14 tokens per second)\n";
    const runs::MeasuredRun run = read("# speculative.n_max: 16\n" + times);
    REQUIRE(run.cells.size() == 1);
    CHECK(run.cells.front().draft_tokens == 16);
    CHECK(run.cells.front().tpot.mean() == Approx(0.002));
    CHECK(says(refusal("## MTP\n" + times), "--draft-tokens K"));
    CHECK(read("## MTP\n" + times, 3).cells.front().draft_tokens == 3);
    CHECK(read("## Without MTP\n" + times, 3).cells.front().draft_tokens == 0);
    CHECK(read(times).cells.front().draft_tokens == 0);
    const runs::MeasuredRun both = read("## Without MTP\n" + times + "## MTP, K=3\n" + times);
    REQUIRE(both.cells.size() == 2);
    CHECK(both.cells.front().draft_tokens == 0);
    CHECK(both.cells.back().draft_tokens == 3);
}

TEST_CASE("times of a part of the drafter are no steps") {
    const std::string counts =
        "decoded  136 tokens in   10.000 seconds, speed:   13.600 t/s\n\nn_draft   = 8\nn_predict = 136\nn_drafted = 112\n"
        "n_accept  = 36\n\n";
    const std::string times =
        "llama_perf_context_print:        eval time =      23.80 ms /    70 runs   (    0.34 ms per token,  2941.18 tokens per "
        "second)\n";
    for (const char* part : {"draft:\n\n Eagle3 Draft encoder:\n", "DFlash Draft decoder:\n", "draft:\n\n"}) {
        const runs::MeasuredRun run = read(counts + part + times);
        REQUIRE(run.cells.size() == 1);
        // 135 steps less 36 accepted drafts are 99 rounds.
        CHECK(run.cells.front().draft_tokens > 0);
        CHECK(run.cells.front().round.mean() == Approx(10.0 / 99));
    }
}

TEST_CASE("llama-cli's rates are of the command or the words above them") {
    const std::string slow = "[ Prompt: 200.0 t/s | Generation: 40.0 t/s ]\n",
                      fast = "[ Prompt: 190.0 t/s | Generation: 80.0 t/s ]\n";
    const std::string plain = "./llama-cli -m a.gguf -n 200\n" + slow + "\n";
    const std::string both = plain + "./llama-cli -m a.gguf --spec-type draft-mtp --spec-draft-n-max 3 -n 200\n" + fast;
    CHECK(cells_of(read(both)) == "1/0/0: 25000, 1/3/0: 12500");
    CHECK(cells_of(read(both, 3)) == "1/0/0: 25000, 1/3/0: 12500");
    CHECK(says(refusal(plain + "./llama-cli -m a.gguf --spec-type draft-mtp\n" + fast), "--draft-tokens K"));
    CHECK(cells_of(read(slow)) == "1/0/0: 25000");
    CHECK(cells_of(read(slow, 3)) == "1/3/0: 25000");
    CHECK(cells_of(read("Without MTP:\n" + slow + "MTP, k=3:\n" + fast)) == "1/0/0: 25000, 1/3/0: 12500");
}

}  // namespace drafting_reports_test
