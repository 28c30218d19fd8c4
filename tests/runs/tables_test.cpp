// Tables that threads quote. The fixtures are written anew in those forms; expected values are arithmetic on them.
#include <catch2/catch.hpp>

#include "imported_run.h"
#include "text/input_error.h"

namespace tables_test {

using namespace treeline;
using namespace treeline::testing;

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

TEST_CASE("two columns, a load and a rate, are a table between commas, blanks and bars") {
    for (const std::string text :
         {"batch,output tok/s\n1,62.1\n8,465\n", "concurrency, TPOT (ms)\n1, 16.1\n8, 17.2\n",
          "Batch    tok/s\n1        62.1\n8        465\n", "| Batch | tok/s |\n|---|---|\n| 1 | 62.1 |\n| 8 | 465 |\n"}) {
        INFO(text);
        const runs::MeasuredRun run = of_text(text);
        REQUIRE(run.cells.size() == 2);
        CHECK(run.cells[0].batch == 1.0);
        CHECK(run.cells[1].batch == 8.0);
        CHECK(run.cells[1].draft_tokens == 0);
        CHECK(run.cells[0].tpot_seconds() == Approx(0.0161).epsilon(2e-3));  // 1 / 62.1
        CHECK(run.cells[1].tpot_seconds() == Approx(0.0172).epsilon(2e-3));  // 8 / 465
        CHECK(of_text(text, drafting(0)).cells[0].draft_tokens == 0);
    }
    // Of drafts the length is asked for.
    CHECK_THROWS_WITH(of_text("batch,MTP tok/s\n1,62.1\n8,465\n"), Catch::Contains("--draft-tokens K says it"));
    // A sentence with one comma is no heading.
    CHECK_THROWS_AS(of_text("The batch was 8, throughput 465\n1, 2\n"), text::InputError);
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

TEST_CASE("a thread's table of draft lengths: the row without drafts is plain decoding, a rate gives the accept length") {
    // The form of llama.cpp's pull request 22673.
    const runs::MeasuredRun run = of_text(
        "| spec-draft-n-max | average tk\\s | wall_s_total|  aggregate_accept_rate |\n"
        "| --- | ----  | ---  | -- |\n"
        "| n/a - no mtp |  20.0  |  77.69  | n/a |\n"
        "|  1 | 25.0 | 68.34|  0.9 |\n"
        "| 3 | 32.0 | 67.96 | 70 % |\n");
    REQUIRE(run.cells.size() == 3);
    CHECK(run.cells[0].draft_tokens == 0);
    CHECK(run.cells[0].tpot.mean() == Approx(1.0 / 20.0));
    CHECK(run.cells[1].draft_tokens == 1);
    CHECK(run.cells[1].accept_length() == Approx(1.9));
    CHECK(run.cells[2].draft_tokens == 3);
    CHECK(run.cells[2].accept_length() == Approx(1.0 + 3 * 0.7));
    CHECK(run.cells[2].batch == 1);
    REQUIRE(run.remarks.size() == 1);
    CHECK(run.remarks[0].find("no requests in flight; 1 is assumed") != std::string::npos);
}

TEST_CASE("columns with and without drafts beside each other, their units in the cells, in a printed box") {
    const runs::MeasuredRun run = of_text(
        "┃ Concurrency ┃ Baseline (AR) ┃ MTP          ┃ AL   ┃\n"
        "│ 1           │ 50.0 tok/s    │ 100.0 tok/s  │ 2.60 │\n"
        "│ 8           │ 320.0 tok/s   │ 480.0 tok/s  │ 2.50 │\n",
        drafting(3));
    REQUIRE(run.cells.size() == 4);
    CHECK(run.cells[2].batch == 8);
    CHECK(run.cells[2].tpot.mean() == Approx(8.0 / 320.0));
    CHECK(run.cells[3].draft_tokens == 3);
    CHECK(run.cells[3].tpot.mean() == Approx(8.0 / 480.0));
    CHECK(run.cells[3].accept_length() == Approx(2.5));
}

TEST_CASE("a run is of one deployment: columns of several drafters are left out, and named") {
    const runs::MeasuredRun run = of_text(
        "| Context | Baseline (AR) | DFlash | DSpark |\n|---:|---:|---:|---:|\n"
        "| 512 | 100.0 tok/s | 200.0 tok/s | 250.0 tok/s |\n| 8K | 80.0 tok/s | 120.0 tok/s | 131.6 tok/s |\n");
    REQUIRE(run.cells.size() == 2);
    CHECK(run.cells[1].context == 8192);
    CHECK(run.cells[1].tpot.mean() == Approx(1.0 / 80.0));
    CHECK(run.remarks[0].find("the columns \"DFlash\" and \"DSpark\" were left out") != std::string::npos);
}

TEST_CASE("rows that cannot be are left out, each with its reason; accept lengths need a draft length") {
    const std::string head = "| k | TPOT (ms) | accept length |\n|---|---|---|\n";
    const runs::MeasuredRun run =
        of_text(head + "| 1 | 10.0 | 1.8 |\n| 2 | OOM | - |\n| 3 | 8.0 | 2.4 |\n| 4 | 7.0 | 9.0 |\n| 5 | 6.0 | 2.9 |\n");
    REQUIRE(run.cells.size() == 3);
    std::string all;
    for (const std::string& remark : run.remarks) {
        all += remark + "\n";
    }
    CHECK(all.find("line 4: is a row of a table without a time per token or tokens/s above 0; it is left out") !=
          std::string::npos);
    CHECK(all.find("accept length of 9.00 of 4 draft tokens") != std::string::npos);
    CHECK_THROWS_WITH(of_text("| Concurrency | tok/s | AL |\n|---|---|---|\n| 1 | 50 | 2.5 |\n"),
                      Catch::Contains("--draft-tokens K says it"));
}

TEST_CASE("rows of one load are averaged, and that is said") {
    const runs::MeasuredRun run = of_text(
        "| tree | `DFLASH_TOKENS` | tok/step | decode C1 |\n|---|---|---:|---:|\n"
        "| 0.27.1 | 15 | **3.20** | 120.0 tok/s |\n| 0.28.0 | 15 | **3.00** | 100.0 tok/s |\n| 0.27.1 | 7 | 3.10 | 117.5 tok/s "
        "|\n");
    REQUIRE(run.cells.size() == 2);
    CHECK(run.cells[0].draft_tokens == 15);
    CHECK(run.cells[0].tpot.mean() == Approx(0.5 / 120.0 + 0.5 / 100.0));
    CHECK(run.remarks.back().find("rows of the same load and draft length were averaged") != std::string::npos);
}

TEST_CASE("a table that is not read says which column it lacks") {
    CHECK_THROWS_WITH(of_text("| Model | Score |\n|---|---|\n| a | 1.0 |\n"),
                      Catch::Contains("none of the formats") && Catch::Contains("\"Model\" and \"Score\" has no column of"));
}

TEST_CASE("a column of settings is told by what its cells say, whatever it is called") {
    const runs::MeasuredRun arms =
        of_text("| arm | decode tok/s (3 runs) |\n|---|---|\n| MTP k=3 | 99.0 / 100.0 / 101.0 |\n| baseline | 80.0 |\n");
    CHECK(with_drafts(arms, 3).tpot_seconds() == Approx(0.01));
    CHECK(with_drafts(arms, 0).tpot_seconds() == Approx(0.0125));
    const runs::MeasuredRun strategies = of_text(
        "| Strategy | Tokens | Time (s) | Tokens/sec | Draft Accept % |\n|---|---|---|---|---|\n"
        "| **Standard Autoregressive** | 256 | 5.1 s | 50.0 tps | N/A |\n| **MTP Speculative (MTP-4)** | 259 | 4.3 s | "
        "62.5 tps | **75.0%** |\n");
    CHECK(with_drafts(strategies, 4).accept_length() == Approx(4.0));  // 1 + 0.75 x 4
    CHECK(with_drafts(strategies, 0).tpot_seconds() == Approx(0.02));
    // The base model drafts, too.
    const runs::MeasuredRun models =
        of_text("| Model | batch | tok/s | accept length |\n|---|---|---|---|\n| Llama base | 1 | 50 | 2.5 |\n", drafting(3));
    CHECK(with_drafts(models, 3).accept_length() == Approx(2.5));
    // What stands beside a plain row drafts, unless it says otherwise.
    CHECK_THROWS_WITH(of_text("| run | tok/s |\n|---|---|\n| baseline | 50 |\n| tuned | 60 |\n"),
                      Catch::Contains("times with drafts beside those without"));
    CHECK_THROWS_WITH(of_text("| k | tok/s/GPU |\n|---|---|\n| 3 | 50 |\n"), Catch::Contains("has no column of times"));
    CHECK_THROWS_WITH(of_text("| name | tok/s |\n|---|---|\n| short | 10 |\n"), Catch::Contains("has no column of requests"));
}

TEST_CASE("columns with and without drafts beside each other need the draft length") {
    const std::string table =
        "| Prompt | No-MTP | Heads=3 MTP | gain |\n|---|---:|---:|---:|\n| code | 10.0 t/s | 12.5 t/s | +25 % |\n";
    CHECK_THROWS_WITH(of_text(table), Catch::Contains("times with drafts beside those without"));
    const runs::MeasuredRun run = of_text(table, drafting(3));
    CHECK(with_drafts(run, 0).tpot_seconds() == Approx(0.1));
    CHECK(with_drafts(run, 3).tpot_seconds() == Approx(0.08));
    const runs::MeasuredRun named = of_text("| Prompt | AR tok/s | MTP k=2 tok/s |\n|---|---|---|\n| code | 10 | 20 |\n");
    CHECK(with_drafts(named, 2).tpot_seconds() == Approx(0.05));
}

TEST_CASE("headings that name draft lengths, of which 0 is plain decoding") {
    const runs::MeasuredRun run =
        of_text("| GPU | `n_max:0` | `n_max:4` | change |\n|--|--|--|--|\n| 3090 | 20 tps | 40 tps | 2x |\n");
    CHECK(with_drafts(run, 0).tpot_seconds() == Approx(0.05));
    CHECK(with_drafts(run, 4).tpot_seconds() == Approx(0.025));
    const runs::MeasuredRun sweep =
        of_text("| concurrency | Baseline tok/s | k=1 tok/s | k=3 tok/s |\n|--|--|--|--|\n| 2 | 20 | 40 | 50 |\n");
    CHECK(with_drafts(sweep, 0).tpot_seconds() == Approx(0.1));
    CHECK(with_drafts(sweep, 1).tpot_seconds() == Approx(0.05));
    CHECK(with_drafts(sweep, 3).tpot_seconds() == Approx(0.04));
    CHECK_THROWS_WITH(of_text("| concurrency | A k=1 tok/s | B k=1 tok/s |\n|--|--|--|\n| 2 | 40 | 50 |\n"),
                      Catch::Contains("were left out"));
}

TEST_CASE("a table whose columns stand under dashes, with a row of means at its end") {
    const runs::MeasuredRun run = of_text(
        "category    base_avg_pred_t/s  spec_avg_pred_t/s  accept_rate\n"
        "----------  -----------------  -----------------  -----------\n"
        "coding      50.00              80.00              0.7500\n"
        "open talk   50.00              80.00              0.2500\n"
        "overall     10.00              10.00              0.5000\nResults are written to a file called out.json, for later.\n",
        drafting(4));
    CHECK(with_drafts(run, 0).tpot_seconds() == Approx(0.02));
    CHECK(with_drafts(run, 4).tpot_seconds() == Approx(0.0125));
}

TEST_CASE("depths of trees are no contexts, and thresholds of drafts leave no accept length") {
    const runs::MeasuredRun trees = of_text(
        "| Method | Depth | Branching | Num Spec Tokens | Mean Acceptance Length | Throughput (tokens/s) |\n"
        "|---|---|---|---|---|---|\n| Eagle | 3 | 1 | 3 | 2.5 | 100 |\n| Vanilla | N/A | N/A | 0 | 1.00 | 50 |\n");
    CHECK(with_drafts(trees, 3).context == 0);
    CHECK(with_drafts(trees, 3).accept_length() == Approx(2.5));
    const runs::MeasuredRun deep = of_text("| depth | k | tok/s |\n|---|---|---|\n| 8192 | 2 | 50 |\n");
    CHECK(with_drafts(deep, 2).context == 8192);
    const runs::MeasuredRun cut = of_text(
        "| Config | Decode tok/s | Draft acceptance |\n|---|---|---|\n| no speculation | 25 | - |\n"
        "| `--spec-draft-n-max 2 --draft-p-min 0` | 40 | 50% |\n| `--spec-draft-n-max 2 --draft-p-min 0.6` | 50 | 94% |\n");
    CHECK(with_drafts(cut, 2).accept_length() == Approx(2.0));
    CHECK(with_drafts(cut, 2).tpot_seconds() == Approx(0.025));
    CHECK(cut.remarks.back().find("p-min") != std::string::npos);
}

TEST_CASE("rows that name a load, and rows of other models") {
    const runs::MeasuredRun loads = of_text(
        "| Scenario | Without MTP | With MTP (5 draft) |\n|---|---|---|\n| Single request | 10 tok/s | 30 tok/s |\n"
        "| 4 concurrent | 40 tok/s | 32 tok/s |\n");
    REQUIRE(loads.cells.size() == 4);
    CHECK((loads.cells[2].batch == 4 && loads.cells[2].draft_tokens == 0));
    CHECK(loads.cells[2].tpot_seconds() == Approx(0.1));
    CHECK(loads.cells[3].tpot_seconds() == Approx(4.0 / 32));
    const runs::MeasuredRun models =
        of_text("| model | baseline tok/s | MTP tok/s |\n|---|---|---|\n| a-9b | 200 | - |\n| b-27b | 60 | 100 |\n");
    REQUIRE(models.cells.size() == 1);
    CHECK(models.cells[0].tpot_seconds() == Approx(1.0 / 200));
    CHECK(models.remarks.back().find("rows of another model") != std::string::npos);
}

TEST_CASE("rows of trees are no chains, and a column called throughput holds tokens/s") {
    const runs::MeasuredRun run = of_text(
        "| bs | steps | topk | num_draft | throughput | acc len |\n|---|---|---|---|---|---|\n| 1 | 3 | 1 | 4 | 160 | 1.9 |\n"
        "| 1 | 3 | 4 | 8 | 170 | 2.2 |\n| 4 | 3 | 1 | 4 | 480 | 1.8 |\n");
    REQUIRE(run.cells.size() == 2);
    CHECK(run.cells[0].accept_length() == Approx(1.9));
    CHECK(run.cells[0].tpot_seconds() == Approx(1.0 / 160));
    CHECK(run.cells[1].tpot_seconds() == Approx(4.0 / 480));
    std::string all;
    for (const std::string& remark : run.remarks) {
        all += remark + "\n";
    }
    CHECK(all.find("rows of trees") != std::string::npos);
    CHECK(all.find("\"throughput\" names no unit") != std::string::npos);
    const runs::MeasuredRun thousands = of_text("| k | tok/s |\n|---|---|\n| 0 | 1.2k |\n");
    CHECK(with_drafts(thousands, 0).tpot_seconds() == Approx(1.0 / 1200));
}

TEST_CASE("a column called acceptance holds lengths or rates by its numbers; acceptance alone is kept") {
    const runs::MeasuredRun run = of_text(
        "| concurrency | table says | measured acceptance |\n|---|---|---|\n| 4 | k=6 | 4.50 |\n| 32 | k=4 | **3.75** |\n");
    CHECK(with_drafts(run, 6).batch == 4);
    CHECK(with_drafts(run, 6).accept_length() == Approx(4.5));
    CHECK(with_drafts(run, 4).accept_length() == Approx(3.75));
    CHECK_FALSE(with_drafts(run, 4).tpot.known());
    const runs::MeasuredRun rates = of_text("| B | k | tok/s | Accept |\n|---|---|---|---|\n| 2 | 3 | 60 | 62 |\n");
    CHECK(with_drafts(rates, 3).accept_length() == Approx(1 + 3 * 0.62));
    CHECK(with_drafts(rates, 3).batch == 2);
    CHECK_THROWS_WITH(of_text("| Prompt | Ref tok/s | Ours tok/s |\n|---|---|---|\n| a | 80 | 77 |\n"),
                      Catch::Contains("\"Ref tok/s\" and \"Ours tok/s\" were left out"));
}

}  // namespace tables_test
