// Does a table mean what the lines before it say, and what its cells say of two runs? The forms are those of public threads;
// the numbers are made up.
#include <algorithm>
#include <cmath>
#include <tuple>

#include <catch2/catch.hpp>

#include "runs/run.h"

namespace table_captions_test {

using namespace treeline;
using Catch::Detail::Approx;

namespace {

runs::MeasuredRun read_table(const std::string& text, int draft_tokens = -1) {
    runs::RunHints hints;
    if (draft_tokens >= 0) {
        hints.draft_tokens = draft_tokens;
    }
    return runs::import_run_text(text, "table.md", hints);
}

/// "batch/drafts/context: tokens/s of a user" of each cell, by drafts, context and batch.
std::string cells_of(const runs::MeasuredRun& run) {
    std::vector<std::tuple<int, int, int, int>> cells;
    for (const runs::RunCell& cell : run.cells) {
        cells.emplace_back(cell.draft_tokens, std::lround(cell.context), std::lround(cell.batch),
                           std::lround(1.0 / cell.tpot.mean()));
    }
    std::sort(cells.begin(), cells.end());
    std::string text;
    for (const auto& [drafts, context, batch, rate] : cells) {
        text += (text.empty() ? "" : ", ") + std::to_string(batch) + "/" + std::to_string(drafts) + "/" +
                std::to_string(context) + ": " + std::to_string(rate);
    }
    return text;
}

}  // namespace

TEST_CASE("the unit and the load of a table stand in the lines before it") {
    CHECK(cells_of(read_table(
              "Decode throughput (tok/s), single stream, medians of 3 runs.\n\n"
              "| context | off | k=1 | k=2 |\n|---|---|---|---|\n| 1K | 24 | 30 | 40 |\n| 16K | 20 | 25 | 22 |\n")) ==
          "1/0/1024: 24, 1/0/16384: 20, 1/1/1024: 30, 1/1/16384: 25, 1/2/1024: 40, 1/2/16384: 22");
    CHECK(cells_of(read_table("Tokens per second with MTP (2 draft tokens), one card\n\n"
                              "| concurrency | value |\n|---|---|\n| 1 | 90 (1.79x) |\n| 4 | 240 (1.55x) |\n")) ==
          "1/2/0: 90, 4/2/0: 60");
    // Milliseconds; eight requests at once.
    CHECK(cells_of(read_table(
              "Mean TPOT in ms per token at concurrency 8\n| drafts | vLLM |\n|---|---|\n| 0 | 20 |\n| 3 | 10 |\n")) ==
          "8/0/0: 50, 8/3/0: 100");
    CHECK_THROWS_WITH(read_table("Some numbers.\n| context | off | k=1 |\n|---|---|---|\n| 1K | 24 | 30 |\n"),
                      Catch::Contains("name no unit: a line above the table"));
    // Of shares, factors and memory no unit makes times.
    CHECK(cells_of(read_table("Output tok/s\n| k | result | speed-up | memory |\n|---|---|---|---|\n| 0 | 50 | 1.0 | 20 |\n"
                              "| 2 | 80 | 1.6 | 21 |\n")) == "1/0/0: 50, 1/2/0: 80");
}

TEST_CASE("headings say which of two tables drafts") {
    const std::string rows = "| Batch size | Output throughput (tok/s) |\n|---|---|\n| 1 | 30 |\n| 4 | 100 |\n\n";
    const std::string faster = "| Batch size | Output throughput (tok/s) |\n|---|---|\n| 1 | 60 |\n| 4 | 200 |\n";
    CHECK(cells_of(read_table("### Baseline\n\n" + rows + "### With MTP (num speculative tokens = 3)\n\n" + faster)) ==
          "1/0/0: 30, 4/0/0: 25, 1/3/0: 60, 4/3/0: 50");
    CHECK(cells_of(read_table("## Without speculation\n" + rows + "**EAGLE-3, k=5**\n\n" + faster)) ==
          "1/0/0: 30, 4/0/0: 25, 1/5/0: 60, 4/5/0: 50");
    // A heading that names no length asks for it, instead of taking drafts for plain decoding.
    CHECK_THROWS_WITH(read_table("### With MTP\n" + faster), Catch::Contains("--draft-tokens K says it"));
    CHECK(cells_of(read_table("### With MTP\n" + faster, 2)) == "1/2/0: 60, 4/2/0: 50");
    CHECK(cells_of(read_table("### MTP benchmarks\n" + faster, 0)) == "1/0/0: 60, 4/0/0: 50");
    // One that compares says nothing of the rows.
    CHECK(cells_of(read_table("### MTP vs baseline\n| setup | tok/s |\n|---|---|\n| baseline | 30 |\n| MTP k=2 | 45 |\n")) ==
          "1/0/0: 30, 1/2/0: 45");
}

TEST_CASE("cells of two runs: both sides are named by the heading or before the table") {
    CHECK(
        cells_of(read_table("Decode tok/s, no MTP -> MTP (n-max 3):\n\n| Context | tok/s |\n|---|---|\n| 4K | 20 \u2192 40 |\n"
                            "| 32K | 16 \u2192 25 (1.56x) |\n")) == "1/0/4096: 20, 1/0/32768: 16, 1/3/4096: 40, 1/3/32768: 25");
    const runs::MeasuredRun run =
        read_table("| Prompt | baseline -> MTP (tok/s) | accept len |\n|---|---|---|\n| code | 20 -> 40 (2.0x) | 2.6 |\n", 3);
    CHECK(cells_of(run) == "1/0/0: 20, 1/3/0: 40");
    CHECK(run.cells[1].accept_length() == Approx(2.6));
    // Two builds, both of which draft, are not told apart by drafts.
    CHECK_THROWS_WITH(read_table("MTP, before -> after this change\n| Context | speed |\n|---|---|\n| 4K | 44.9 -> 61.7 |\n"),
                      Catch::Contains("cells hold two numbers each"));
}

TEST_CASE("columns of two drafters are no draft lengths of one") {
    CHECK_THROWS_WITH(read_table("| EAGLE3 (n=3) | MTP (n=2) |\n|---|---|\n| 40 tok/s | 45 tok/s |\n"),
                      Catch::Contains("a run is of one deployment"));
    CHECK(cells_of(read_table("| MTP (n=3) | MTP (n=2) |\n|---|---|\n| 40 tok/s | 45 tok/s |\n")) == "1/2/0: 45, 1/3/0: 40");
}

TEST_CASE("ranges, about, and factors beside a number") {
    CHECK(
        cells_of(read_table("| n-max | mainline decode | mainline acceptance |\n|---|---|---|\n| 0 (no MTP) | ~14 tok/s | - |\n"
                            "| 1 | 20 (1.43x) | 80% |\n| 3 | 42-46 (3.0x) | 78% |\n")) == "1/0/0: 14, 1/1/0: 20, 1/3/0: 44");
    const runs::MeasuredRun gains = read_table(
        "Results in tok/s\n| | Baseline | With flag | n-max | Acceptance |\n|---|---|---|---|---|\n| a | 60 | 90 (+50%) | 2 | "
        "0.6 |\n");
    CHECK(cells_of(gains) == "1/0/0: 60, 1/2/0: 90");
    CHECK(gains.cells[1].accept_length() == Approx(2.2));
    // A word that means accuracy as well is not taken for acceptance, and not lost without a word.
    const runs::MeasuredRun run = read_table("| n-max | decode tok/s | fork acc |\n|---|---|---|\n| 2 | 20 | 80% |\n");
    CHECK(run.cells[0].stated_length == 0.0);
    CHECK(run.remarks[0].find("\"fork acc\" may hold acceptance or accuracy") != std::string::npos);
}

TEST_CASE("a setting in each column") {
    const std::string table =
        "| | AR | MTP k=2 |\n|---|---|---|\n| tokens generated | 59 | 59 |\n| decode throughput (`tps`) | 20.0 tok/s | 30.0 "
        "tok/s |\n"
        "| accept length | - | 2.2 |\n| peak memory | 112.3 GB | 113.8 GB |\n";
    const runs::MeasuredRun run = read_table(table);
    CHECK(cells_of(run) == "1/0/0: 20, 1/2/0: 30");
    CHECK(run.cells[1].accept_length() == Approx(2.2));
}

TEST_CASE("loads in the columns") {
    CHECK(cells_of(read_table("Throughput (output tokens/s)\n\n| | c=1 | c=8 |\n|---|---|---|\n| baseline | 60 | 400 |\n"
                              "| EAGLE3 (k=3) | 120 | 640 |\n")) == "1/0/0: 60, 8/0/0: 50, 1/3/0: 120, 8/3/0: 80");
    CHECK(cells_of(read_table(
              "Tokens/s by draft length\n| k | BS1 | BS 8 |\n|---|---|---|\n| 0 | 60 | 400 |\n| 2 | 100 | 480 |\n")) ==
          "1/0/0: 60, 8/0/0: 50, 1/2/0: 100, 8/2/0: 60");
}

TEST_CASE("columns that take their unit from another, and medians where there are no means") {
    CHECK(cells_of(read_table(
              "| Batch | AR (tok/s) | MTP-1 | MTP-3 | speed-up |\n|---|---|---|---|---|\n| 1 | 50 | 80 | 100 | 2.0 |\n"
              "| 8 | 400 | 480 | 560 | 1.4 |\n")) == "1/0/0: 50, 8/0/0: 50, 1/1/0: 80, 8/1/0: 60, 1/3/0: 100, 8/3/0: 70");
    CHECK(cells_of(read_table("| context | off TPOT p50 | k=3 TPOT p50 |\n|---|---|---|\n| 8K | 20 ms | 10 ms |\n")) ==
          "1/0/8192: 50, 1/3/8192: 100");
}

TEST_CASE("rows without bars at their sides, and with tabs") {
    const std::string expected = "1/0/0: 70, 1/2/0: 100";
    CHECK(cells_of(
              read_table("Method | Batch Size | Num Spec Tokens | Decode (toks/sec)\n-- | -- | -- | --\neagle | 1 | 2 | 100\n"
                         "vanilla | 1 | 0 | 70\n")) == expected);
    CHECK(cells_of(read_table("n_max\ttok/s\tacceptance\n0\t70\t\n2\t100\t81%\n")) == expected);
}

TEST_CASE("times of a drafter whose length nothing says are no plain decoding") {
    for (const char* text : {"| concurrency | DFlash tok/s |\n|---|---|\n| 1 | 100 |\n",
                             "| depth | tg MTP ON | tg MTP OFF |\n|---|---|---|\n| 0 | 100 | 90 |\n",
                             "## v0.5.0, depth-k MTP\n| Test | TPOT(ms) |\n|---|---|\n| pp1024/tg128 | 8.0 |\n"}) {
        INFO(text);
        CHECK_THROWS_WITH(read_table(text), Catch::Contains("--draft-tokens K says it"));
    }
    // What is plain beside them is kept where drafts have a length.
    CHECK(cells_of(read_table("| depth | tg MTP ON | tg MTP OFF |\n|---|---|---|\n| 0 | 100 | 90 |\n", 2)) ==
          "1/0/1: 90, 1/2/1: 100");
    const runs::MeasuredRun run =
        read_table("## depth-k MTP\n| Test | TPOT(ms) | tg TPS |\n|---|---|---|\n| pp1024/tg128 | 8.0 | 125 |\n", 2);
    REQUIRE(run.cells.size() == 1);
    CHECK(run.cells[0].prompt_tokens == 1024);
    CHECK(run.cells[0].context == 1024 + 64);
}

TEST_CASE("counts with thousands, SGLang's questions, and drafts that end early") {
    const runs::MeasuredRun counted = read_table(
        "Number of draft proposals: 1,000\nNumber of draft tokens generated: 2,000\nNumber of accepted tokens: 900\n"
        "Acceptance rate at token 0: 0.60\nAcceptance rate at token 1: 0.30\n");
    REQUIRE(counted.cells.size() == 1);
    CHECK(counted.cells[0].acceptance.drafts == 1000);
    CHECK(counted.cells[0].accept_length() == Approx(1.9));
    const std::string questions = "#questions: 80, Throughput: 250.00 token/s, Acceptance length: 3.20\n";
    CHECK_THROWS_WITH(read_table(questions), Catch::Contains("--draft-tokens K says it"));
    CHECK(cells_of(read_table(questions, 5)) == "1/5/0: 250");
    // 100 tokens in 44 rounds, each of 1.4 drafts in the mean, of which 1.25 are accepted: the longest has two at least.
    const runs::MeasuredRun early = read_table("  code  pred= 100 draft= 62 acc= 55 rate=0.887 tok/s=50.0\n");
    REQUIRE(early.cells.size() == 1);
    CHECK(early.cells[0].draft_tokens == 2);
}

}  // namespace table_captions_test
