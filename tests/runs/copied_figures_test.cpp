// Figures that people copy out of reports, headings whose words deny something else than drafting, and units of engines'
// programs. Expected values are arithmetic on the figures.
#include <catch2/catch.hpp>

#include "runs/formats/load_columns.h"
#include "typed_run.h"

namespace copied_figures_test {

using namespace treeline;
using namespace treeline::testing::typed;
using runs::run_formats_of::drafter_in;
using runs::run_formats_of::means_plain;
using runs::run_formats_of::plain_words;

TEST_CASE("a word denies drafting alone or beside a word of drafting") {
    for (const char* text : {"off", "None", "no", "n/a", "tok/s (off)", "off tok/s", "MTP off", "spec-type none", "w/o",
                             "speculative decoding disabled", "no draft", "(no draft)", "MTP turned off", "without a drafter",
                             "no n-gram", "baseline (thinking off)"}) {
        INFO(text);
        CHECK(means_plain(plain_words(text)));
    }
    for (const char* text : {"tok/s (think OFF)", "no thinking tok/s", "(no think)", "thinking off", "prefix caching off",
                             "without CUDA graphs", "no cache", "MTP without graphs"}) {
        INFO(text);
        CHECK(!means_plain(plain_words(text)));
    }
}

TEST_CASE("columns of thinking on and off are none of plain decoding") {
    for (const char* heading : {"think OFF", "no thinking"}) {
        INFO(heading);
        const runs::MeasuredRun run = read(fmt::format(
            "| Config | tok/s (think ON) | tok/s ({}) | Draft Accept |\n|---|---|---|---|\n| Baseline | 25.0 | 26.0 | - |\n"
            "| `--spec-draft-n-max 3` | 20.0 | 20.4 | 61% |\n| `--spec-draft-n-max 6` | 16.0 | 18.1 | 43% |\n",
            heading));
        CHECK(cells_of(run) == "1/3/0: 0, 1/6/0: 0");
        CHECK(says(remarks_of(run), "leave one of them in the table"));
    }
}

TEST_CASE("versions of EAGLE are kept apart however they are written") {
    CHECK(drafter_in("eagle 3") == "eagle3");
    CHECK(drafter_in("sglang eagle 2 1x h100") == "eagle2");
    CHECK(drafter_in("eagle 3 draft tokens") == "eagle");  // "EAGLE, 3 draft tokens"
    CHECK(drafter_in("eagle 3 1 4") == "eagle");           // SGLang's steps, top-k and tokens
    const runs::MeasuredRun run = read(
        "| Method | Throughput | Accept length |\n|---|---|---|\n| baseline | 158 tokens/s | 1.0 |\n"
        "| EAGLE-2 | 250 tokens/s | 2.9 |\n| EAGLE-3 | 375 tokens/s | 4.6 |\n",
        7);
    CHECK(cells_of(run) == "1/0/0: 6329, 1/7/0: 4000");
    CHECK(says(remarks_of(run), "rows of eagle3 beside those of eagle2 were left out"));
    // A method that no word of ours names is another one, too.
    const runs::MeasuredRun other = read(
        "| Method | Num Spec Tokens | Mean Acceptance Length | Throughput (tokens/s) |\n|---|---|---|---|\n"
        "| Eagle | 3 | 2.31 | 125 |\n| fr-spec | 3 | 2.23 | 160 |\n| Vanilla | 0 | 1.00 | 50 |\n");
    CHECK(cells_of(other) == "1/0/0: 20000, 1/3/0: 8000");
    CHECK(says(remarks_of(other), "rows of fr spec beside those of eagle were left out"));
}

TEST_CASE("a block holds the root, and accepted drafts of a round leave out its last token") {
    // As mlx-vlm counts: a block of 3 drafts 2 tokens, of which 1.1 are accepted.
    const runs::MeasuredRun run = read(
        "| block_size | tok/s | accepted/round | rounds |\n|---|---|---|---|\n| (no draft) | 12.5 | - | - |\n"
        "| 3 | 20 | 1.10 | 141 |\n| 6 | 10 | 0.65 | 113 |\n");
    CHECK(cells_of(run) == "1/0/0: 80000, 1/2/0: 50000, 1/5/0: 100000");
    CHECK(run.cells[1].accept_length() == Approx(2.1));
    CHECK(run.cells[2].accept_length() == Approx(1.65));
}

TEST_CASE("figures of a report without its header") {
    const std::string eagle =
        "# --- eagle3  c=16 ---\nOutput token throughput (tok/s):         200.00\nMean TTFT (ms):                          "
        "170\n"
        "Mean TPOT (ms):                          25.0\nP99 TPOT (ms):                           42.41\n"
        "Acceptance length:                       2.25\nDrafts:                                  1000\n"
        "Draft tokens:                            3000\nAccepted tokens:                         1250\n\n";
    const runs::MeasuredRun run = read(
        eagle + "# --- vanilla  c=16 ---\nOutput token throughput (tok/s): 160\nMean TTFT (ms): 30\nMean TPOT (ms): 31.25\n");
    CHECK(cells_of(run) == "16/0/0: 31250, 16/3/0: 25000");
    CHECK(run.acceptance(3).drafts == 1000.0);
    // What is not counted is stated; a heading's 480K is the room of a cache, and 90.9 tok/s times 8.56 ms decode 0.78 at once.
    const runs::MeasuredRun part = read(
        "### X-27B-FP8 2 RTX 5090, 91tok/s, 480K\n\nOutput token throughput (tok/s): 90.90\nMean TTFT (ms): 2505.14\n"
        "Mean TPOT (ms): 8.56\nMean ITL (ms): 32.06\nAcceptance rate (%): 68.80\nAcceptance length: 3.75\n"
        "Draft tokens: 21856\nPosition 0: 84.35\nPosition 1: 74.34%\nPosition 2: 62.76\nPosition 3: 53.75\n");
    CHECK(cells_of(part) == "1/4/0: 8560");
    CHECK(part.cells.front().accept_length() == Approx(3.75));
    // A count is no time.
    CHECK(!refusal("Baseline: 20 tok/s\nDrafts: 1832\nDraft tokens: 5496\n").empty());
}

TEST_CASE("columns of loads without a unit are rates where a time per token beside them says so") {
    // 1 / 340 s is 2.94 ms.
    const runs::MeasuredRun run = read(
        "| K | C=1 | C=8 | TTFT | TPOT | Accept |\n|---|---|---|---|---|---|\n| 3 | 340 | 1000 | 38ms | 2.94ms | 53.5% |\n"
        "| 4 | 320 | 800 | 39ms | 3.12ms | 45.2% |\n");
    CHECK(cells_of(run) == "1/3/0: 2941, 8/3/0: 8000, 1/4/0: 3125, 8/4/0: 10000");
}

TEST_CASE("cells of a table of metrics may hold units") {
    const runs::MeasuredRun run = read(
        "| Metric | Normal | Speculative | Delta |\n|---|---|---|---|\n| **Throughput** | **550 tok/s** | 316 tok/s | -43% |\n"
        "| **TPOT** | **87ms** | 94ms | +8% |\n| **Acceptance** | N/A | 30.0% | Too low |\n",
        5);
    CHECK(cells_of(run) == "0/0/0: 87000, 0/5/0: 94000");
    CHECK(run.cells.front().tokens_per_second.mean() == Approx(550.0));
    CHECK(run.cells.back().accept_length() == Approx(2.5));  // 1 + 5 * 0.3
}

TEST_CASE("what the benchmark of DFlash prints") {
    const auto report = [](const std::string& title, double rate, double length, int rounds) {
        return fmt::format(
            "{}\n\nBackend:          sglang\nDataset:          gsm8k\nNum prompts:      100\nConcurrency:      4\n"
            "Latency:          84.8s\nOutput tokens:    40,100\nThroughput:       {:.2f} tok/s\nAccept length:    {:.3f}\n"
            "Spec verify ct:   {}\n\n",
            title, rate, length, rounds);
    };
    const std::string text = report("DFlash:", 400.0, 6.3, 6400) + report("EAGLE-3:", 200.0, 4.8, 8480);
    CHECK(says(refusal(text), "--draft-tokens K"));
    const runs::MeasuredRun run = read(text, 15);
    CHECK(cells_of(run) == "4/15/0: 10000");
    CHECK(run.acceptance(15).drafts == Approx(6400.0));
    CHECK(run.acceptance(15).accept_length() == Approx(40'000.0 / 6400.0));  // the first token of each answer is of no round
    CHECK(run.identity.method == "dflash");
    CHECK(says(remarks_of(run), "results of eagle3 were left out"));
}

TEST_CASE("a server's command that drafts nothing tells what the rates below it are of") {
    const std::string plain = "$ llama-server -m X-Q4_K_M.gguf -ngl 999 --parallel 1";
    const std::string rates = "\n40.0 tok/s\n" + plain + " --spec-type draft-mtp --spec-draft-n-max 2\n50.0 tok/s\n";
    CHECK(cells_of(read(plain + rates)) == "1/0/0: 25000, 1/2/0: 20000");
    CHECK(
        cells_of(read("python -m sglang.launch_server --model-path X/Y\n40 tok/s\npython -m sglang.launch_server --model-path "
                      "X/Y --speculative-algorithm EAGLE3 --speculative-num-steps 3 --speculative-eagle-topk 1 "
                      "--speculative-num-draft-tokens 4\n50 tok/s\n")) == "1/0/0: 25000, 1/3/0: 20000");
    // A variable may hold anything.
    CHECK(cells_of(read(plain + " $FLAGS" + rates)) == "1/2/0: 20000");
}

TEST_CASE("an answer under another key is read as an answer") {
    const runs::MeasuredRun run = read(
        "{\n \"data\": {\"model\": \"X\", \"metrics\": {\"speculative_decoding\": {\"num_spec_steps\": 43, "
        "\"num_accepted_draft_tokens\": 10, \"num_draft_tokens\": 129, \"num_spec_tokens\": 3}}}\n}\n");
    CHECK(run.acceptance(3).drafts == 43.0);
}

}  // namespace copied_figures_test
