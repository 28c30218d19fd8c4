// Results that people write down in sentences and lists are runs; prose without them is none. Texts are our own, expected
// values arithmetic on them.
#include <algorithm>
#include <cmath>
#include <string>

#include <catch2/catch.hpp>

#include "runs/own_file.h"
#include "runs/run.h"
#include "source_folder.h"
#include "text/input_error.h"

namespace prose_test {

using namespace treeline;

namespace {

runs::MeasuredRun of_text(const std::string& text, const runs::RunHints& hints = {}) {
    return runs::import_run_text(text, "file", hints);
}

const runs::RunCell& with_drafts(const runs::MeasuredRun& run, int drafts, double batch = 1.0) {
    for (const runs::RunCell& cell : run.cells) {
        if (cell.draft_tokens == drafts && cell.batch == batch) {
            return cell;
        }
    }
    FAIL("no cell with " << drafts << " draft tokens at batch " << batch);
    return run.cells.front();
}

std::string refusal(const std::string& text) {
    try {
        static_cast<void>(of_text(text));
    } catch (const text::InputError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a line of draft lengths and their rates, one without a unit") {
    const runs::MeasuredRun run = of_text("K=1: 180 tok/s, K=2: 200 tok/s, no spec: 125\n");
    REQUIRE(run.cells.size() == 3);
    CHECK(run.sources.front().format == "results in sentences");
    CHECK(with_drafts(run, 0).tpot_seconds() == Approx(1.0 / 125));
    CHECK(with_drafts(run, 1).tpot_seconds() == Approx(1.0 / 180));
    CHECK(with_drafts(run, 2).tpot_seconds() == Approx(1.0 / 200));
    CHECK(run.remarks.front().find("1 is assumed") != std::string::npos);
}

TEST_CASE("a list, its acceptance in brackets or behind a comma, its load above it") {
    const runs::MeasuredRun run = of_text(
        "Qwen3.6-27B on my card, concurrency 4:\n- baseline: 100 tok/s\n- n=1: 150 t/s (accept 80%)\n"
        "* n=2: **160** t/s, acceptance rate 0.6\n- MTP-3: 1.2k tokens/s (accept length 2.5)\n");
    REQUIRE(run.cells.size() == 4);
    CHECK(with_drafts(run, 0, 4).tpot_seconds() == Approx(4.0 / 100));
    CHECK(with_drafts(run, 1, 4).accept_length() == Approx(1.8));
    CHECK(with_drafts(run, 2, 4).accept_length() == Approx(1 + 2 * 0.6));
    CHECK(with_drafts(run, 3, 4).accept_length() == Approx(2.5));
    CHECK(with_drafts(run, 3, 4).tpot_seconds() == Approx(4.0 / 1200));
}

TEST_CASE("sentences: what stands behind a rate, from and to, numbers in letters, ranges, times per token") {
    const runs::MeasuredRun one =
        of_text("Without speculative decoding I get 40 tok/s. With 3 draft tokens it goes up to 80 tok/s.\n");
    CHECK(with_drafts(one, 0).tpot_seconds() == Approx(1.0 / 40));
    CHECK(with_drafts(one, 3).tpot_seconds() == Approx(1.0 / 80));
    const runs::MeasuredRun two = of_text("We went from 30 to 60 tps using EAGLE-3 with 3 speculative tokens.\n");
    CHECK(with_drafts(two, 0).tpot_seconds() == Approx(1.0 / 30));
    CHECK(with_drafts(two, 3).tpot_seconds() == Approx(1.0 / 60));
    const runs::MeasuredRun three = of_text("prefill 2,000 tok/s, decode 50.0 tok/s with MTP 2 and 24-26 t/s without\n");
    REQUIRE(three.cells.size() == 2);
    CHECK(with_drafts(three, 2).tpot_seconds() == Approx(1.0 / 50));
    CHECK(with_drafts(three, 0).tpot_seconds() == Approx(1.0 / 25));
    const runs::MeasuredRun four = of_text("TPOT 20 ms without MTP, 12.5 ms/token with four draft tokens at batch 8\n");
    CHECK(with_drafts(four, 0, 8).tpot_seconds() == Approx(0.020));
    CHECK(with_drafts(four, 4, 8).tpot_seconds() == Approx(0.0125));
    const runs::MeasuredRun five =
        of_text("MTP with three speculative tokens: A/B gave 90 tok/s without MTP and 135 tok/s with it\n");
    CHECK(with_drafts(five, 0).tpot_seconds() == Approx(1.0 / 90));
    CHECK(with_drafts(five, 3).tpot_seconds() == Approx(1.0 / 135));
}

TEST_CASE("a unit and a batch that only a heading states; a second drafter is another deployment") {
    const runs::MeasuredRun run = of_text(
        "Output tokens/s on one card, BS1\n\nvanilla (`org/model-8B`): 100\n\nHead A (`org/a-8B`):\n* K=2: 150.5, speedup: "
        "1.50x\n"
        "* K=4: 160, speedup: 1.60x\n\nHead B (`org/b-8B`):\n* K=2: 170, speedup: 1.70x\n");
    REQUIRE(run.cells.size() == 3);
    CHECK(with_drafts(run, 0).tpot_seconds() == Approx(0.01));
    CHECK(with_drafts(run, 2).tpot_seconds() == Approx(1.0 / 150.5));
    CHECK(with_drafts(run, 4).tpot_seconds() == Approx(1.0 / 160));
    CHECK(run.remarks.back().find("\"Head B (`org/b-8B`):\" was left out") != std::string::npos);
}

TEST_CASE("rates of answers beside those of prompts on one line") {
    const runs::MeasuredRun run = of_text(
        "* vanilla, [02:00<00:00,  1.5s/it, est. speed input: 50.0 toks/s, output: 125 toks/s]\n"
        "* k=2: [01:30<00:00,  1.1s/it, est. speed input: 66.0 toks/s, output: 160 toks/s] **Accept Len: 1.9**\n");
    REQUIRE(run.cells.size() == 2);
    CHECK(with_drafts(run, 0).tpot_seconds() == Approx(1.0 / 125));
    CHECK(with_drafts(run, 2).tpot_seconds() == Approx(1.0 / 160));
    CHECK(with_drafts(run, 2).accept_length() == Approx(1.9));
}

TEST_CASE("loads of a line, the second of two figures, flags beside their rates") {
    const runs::MeasuredRun run =
        of_text("- BS=1: 50 tok/s -> 100 tok/s with 4 spec tokens (AL 2.9)\n- BS=8: 320 -> 560 tok/s\n");
    REQUIRE(run.cells.size() == 4);
    CHECK(with_drafts(run, 0, 8).tpot_seconds() == Approx(8.0 / 320));
    CHECK(with_drafts(run, 4, 8).tpot_seconds() == Approx(8.0 / 560));
    CHECK(with_drafts(run, 4).accept_length() == Approx(2.9));
    const runs::MeasuredRun times =
        of_text("concurrency 1: TPOT 18ms -> 9ms (eagle3, k=3)\nconcurrency 16: TPOT 24.0 ms -> 17.5ms (eagle3, k=3)\n");
    REQUIRE(times.cells.size() == 4);
    CHECK(with_drafts(times, 0, 16).tpot_seconds() == Approx(0.024));
    CHECK(with_drafts(times, 3, 16).tpot_seconds() == Approx(0.0175));
    const runs::MeasuredRun flags =
        of_text("num_speculative_tokens=1 -> 60 tok/s\nspec off -> 40 tok/s\nno draft: pp 800 t/s, tg 40 t/s\n");
    CHECK(with_drafts(flags, 1).tpot_seconds() == Approx(1.0 / 60));
    CHECK(with_drafts(flags, 0).tpot_seconds() == Approx(1.0 / 40));
}

TEST_CASE("what a script prints below the command lines of two servers") {
    const runs::MeasuredRun run = of_text(
        "Baseline\n```\n$ llama-server -hf org/m -ngl 99 --parallel 1\n```\n\nBaseline test\n```\n$ python3 probe.py\n"
        "  40.0 tok/s median | runs: [40.0, 41.0] | write a function\n  40.0 tok/s median | runs: [40.0, 39.0] | explain\n```\n"
        "\nMTP server\n```\n$ llama-server -hf org/m -ngl 99 --spec-type draft-mtp --spec-draft-n-max 2 --parallel 1\n```\n\n"
        "MTP test\n```\n$ python3 probe.py\n  80.0 tok/s median | runs: [80.0] | write a function\n```\n");
    REQUIRE(run.cells.size() == 2);
    CHECK(with_drafts(run, 0).tpot_seconds() == Approx(1.0 / 40));
    CHECK(with_drafts(run, 2).tpot_seconds() == Approx(1.0 / 80));
}

namespace {

const runs::RunCell& at_load(const runs::MeasuredRun& run, int drafts, double batch, double context) {
    for (const runs::RunCell& cell : run.cells) {
        if (cell.draft_tokens == drafts && cell.batch == batch && cell.context == context) {
            return cell;
        }
    }
    FAIL("no cell with " << drafts << " draft tokens at batch " << batch << " and context " << context);
    return run.cells.front();
}

bool says(const runs::MeasuredRun& run, const std::string& words) {
    return std::any_of(run.remarks.begin(), run.remarks.end(),
                       [&](const std::string& remark) { return remark.find(words) != std::string::npos; });
}

}  // namespace

TEST_CASE("contexts and batches as labels of figures") {
    const runs::MeasuredRun equals = of_text("MTP k=3: 1k=68 20k=63 tok/s\nno MTP: 1k=40 20k=37 tok/s\n");
    REQUIRE(equals.cells.size() == 4);
    CHECK(at_load(equals, 3, 1, 1024).tpot_seconds() == Approx(1.0 / 68));
    CHECK(at_load(equals, 3, 1, 20 * 1024).tpot_seconds() == Approx(1.0 / 63));
    CHECK(at_load(equals, 0, 1, 1024).tpot_seconds() == Approx(1.0 / 40));
    CHECK(at_load(equals, 0, 1, 20 * 1024).tpot_seconds() == Approx(1.0 / 37));
    for (const char* text : {"MTP n=3: at 8k ctx 41 t/s, at 64k 27 t/s\nbaseline: at 8k ctx 24 t/s, at 64k 19 t/s\n",
                             "MTP n=3: 41 t/s @ 8k, 27 t/s @ 64k\nbaseline: 24 t/s @ 8k, 19 t/s @ 64k\n",
                             "MTP n=3: 41 t/s at 8k context, 27 at 64k\nbaseline: 24 t/s at 8k context, 19 at 64k\n",
                             "Context 8k: baseline 24 t/s, MTP n=3 41 t/s\nContext 64k: baseline 19 t/s, MTP n=3 27 t/s\n"}) {
        INFO(text);
        const runs::MeasuredRun run = of_text(text);
        REQUIRE(run.cells.size() == 4);
        CHECK(at_load(run, 3, 1, 8192).tpot_seconds() == Approx(1.0 / 41));
        CHECK(at_load(run, 3, 1, 65536).tpot_seconds() == Approx(1.0 / 27));
        CHECK(at_load(run, 0, 1, 8192).tpot_seconds() == Approx(1.0 / 24));
        CHECK(at_load(run, 0, 1, 65536).tpot_seconds() == Approx(1.0 / 19));
    }
    const runs::MeasuredRun batches =
        of_text("spec off: bs1=100 bs4=340 bs16=900 tok/s\neagle3 k=3: bs1=180 bs4=520 bs16=1000 tok/s\n");
    REQUIRE(batches.cells.size() == 6);
    CHECK(with_drafts(batches, 3, 16).tpot_seconds() == Approx(16.0 / 1000));
    CHECK(with_drafts(batches, 0, 4).tpot_seconds() == Approx(4.0 / 340));
    // Depths of drafts are no contexts.
    CHECK(of_text("no spec 20 tok/s; MTP depth 2, 3 draft tokens: 40 tok/s\n").cells[1].context == 0.0);
}

TEST_CASE("rates of another model, format or device are of another deployment") {
    const runs::MeasuredRun run = of_text(
        "- 27B Q4_K_M: 22 -> 40 tok/s with MTP n=2\n- 35B-A3B Q4_K_M: 88 -> 116 tok/s with MTP n=2\n- 27B Q8_0: 11 -> 25 tok/s "
        "with MTP n=2\n");
    REQUIRE(run.cells.size() == 2);
    CHECK(with_drafts(run, 0).tpot_seconds() == Approx(1.0 / 22));
    CHECK(with_drafts(run, 2).tpot_seconds() == Approx(1.0 / 40));
    CHECK(says(run, "35b-a3b"));
    const runs::MeasuredRun devices =
        of_text("RTX 3090: baseline 38 tok/s, MTP n=2 59 tok/s\nStrix Halo: baseline 11 tok/s, MTP n=2 21 tok/s\n");
    CHECK(with_drafts(devices, 2).tpot_seconds() == Approx(1.0 / 59));
    CHECK(with_drafts(devices, 2).tpot.times() == 1);
}

TEST_CASE("SGLang's steps, top-k and draft tokens in three numbers") {
    const runs::MeasuredRun run =
        of_text("MTP 5-1-6: conc=1 TPOT 2.78 ms, conc=16 TPOT 8.53 ms\nno MTP: conc=1 TPOT 7.1 ms, conc=16 TPOT 14.0 ms\n");
    CHECK(with_drafts(run, 5, 1).tpot_seconds() == Approx(0.00278));
    CHECK(with_drafts(run, 5, 16).tpot_seconds() == Approx(0.00853));
    CHECK(with_drafts(run, 0, 16).tpot_seconds() == Approx(0.014));
}

TEST_CASE("a note with a list and a sentence") {
    const runs::MeasuredRun run =
        runs::import_runs({(testing::source_folder() / "tests/runs/fixtures/prose_results.txt").string()}, {});
    CHECK(with_drafts(run, 0, 2).tpot_seconds() == Approx(2.0 / 80));
    CHECK(with_drafts(run, 1, 2).accept_length() == Approx(1.8));
    CHECK(with_drafts(run, 2, 2).tpot_seconds() == Approx(2.0 / 140));
    CHECK(with_drafts(run, 3, 2).accept_length() == Approx(2.6));
    CHECK(with_drafts(run, 3, 2).tpot_seconds() == Approx(2.0 / 150));
    CHECK(with_drafts(run, 2, 1).tpot_seconds() > 0.0);
}

TEST_CASE("prose is no run") {
    CHECK(refusal("Speculative decoding helps a lot. My cat is 3 years old and weighs 4 kg.\n").find("none of the formats") !=
          std::string::npos);
    for (const char* text : {"Speculation with 3 draft tokens is 2.1x as fast.\n", "It was never slower, K=3 was best.\n",
                             "Without speculation nothing changes: no.\n", "K=3\nK=4\n",
                             "see table 3: K=2 and K=3 (page 220)\n", "with 3 draft tokens it takes 500 MB and 12 s\n"}) {
        INFO(text);
        CHECK(refusal(text).find("none of the formats") != std::string::npos);
    }
    CHECK(refusal("Without MTP it was 40 tok/s; compiling took it from 30 to 60 tok/s, errors from 6.0 to 2.8 %.\n")
              .find("but not with how many draft tokens") != std::string::npos);
    // A rate alone is of no deployment; what is predicted is not measured.
    CHECK(refusal("I get 42 tok/s on my card.\n").find("but not with how many draft tokens") != std::string::npos);
    CHECK(refusal(
              "Run llama-3.1-8b on h100-sxm with eagle3 drafting 3 tokens: 1.52x the tokens/s of plain decoding at this load,\n"
              "6294 tokens/s per device instead of 4128; 6.79 ms per token instead of 10.4 ms.\n")
              .find("none of the formats") != std::string::npos);
    CHECK(refusal("MTP gives 60 tok/s, without it 40 tok/s.\n").find("--draft-tokens K says it") != std::string::npos);
    runs::RunHints two;
    two.draft_tokens = 2;
    CHECK(with_drafts(of_text("MTP gives 60 tok/s, baseline 40 tok/s.\n", two), 2).tpot_seconds() == Approx(1.0 / 60));
}

TEST_CASE("a script says how something is run, not what came of it") {
    const std::string results = "# K=3 gave 231 tok/s, without 140 tok/s\n| K | tok/s |\n|---|---|\n| 2 | 150 |\n";
    for (const std::string first : {"#!/bin/sh\n", "#compdef treeline\n", "set -euo pipefail\n", "# my bench\n\nset -x\n"}) {
        CHECK(refusal(first + results).find("is a script, which measures nothing itself") != std::string::npos);
    }
    for (const char* name : {"bench.sh", "sweep.py", "C:\\run.ps1"}) {
        CHECK_THROWS_WITH(runs::import_run_text(results, name, {}), Catch::Contains("is a script"));
    }
    CHECK(refusal("Settings:\nset -x\n\n" + results).empty());
    CHECK(
        refusal("bench --k 3 \\\n  --note 'K=3: 231 tok/s, without: 140 tok/s' \\\n  --out x\n").find("none of the formats") !=
        std::string::npos);
}

TEST_CASE("of two numbers before one unit, nothing says which drafts") {
    CHECK(refusal("At k=4 it reaches 80-90 vs 115-130 tok/s.\n").find("none of the formats") != std::string::npos);
    const runs::MeasuredRun named = of_text("K=4: 80 tok/s vs 100 tok/s baseline\n");
    CHECK(with_drafts(named, 4).tpot_seconds() == Approx(1.0 / 80));
    CHECK(with_drafts(named, 0).tpot_seconds() == Approx(1.0 / 100));
}

TEST_CASE("a number of tokens before a dash is a context where nothing else follows") {
    const runs::MeasuredRun run = of_text("MTP K=4\n\n- 512-token, accepted: 20 -> 40 tok/s\n- 4K, accepted: 10 -> 20 tok/s\n");
    REQUIRE(run.cells.size() == 4);
    CHECK(run.cells[0].context == 512.0);
    CHECK(run.cells[2].context == 4096.0);
}

TEST_CASE("requests in flight may label a rate") {
    const runs::MeasuredRun run = of_text("MTP K=3\n\n- C1 decode: 50 tok/s\n- C4 aggregate: 160 tok/s\n");
    REQUIRE(run.cells.size() == 2);
    CHECK(run.cells[0].batch == 1.0);
    CHECK(run.cells[0].tpot_seconds() == Approx(1.0 / 50));
    CHECK(run.cells[1].batch == 4.0);
    CHECK(run.cells[1].tpot_seconds() == Approx(4.0 / 160));
}

TEST_CASE("where something else is read, sentences beside it are not") {
    const runs::MeasuredRun run = of_text("K=3 gave 231 tok/s for me.\n\n| k | tok/s |\n|---|---|\n| 0 | 100 |\n| 2 | 150 |\n");
    REQUIRE(run.cells.size() == 2);
    CHECK(run.cells[1].draft_tokens == 2);
}

TEST_CASE("a heading of waits makes no results of the rates below it, however many they are") {
    CHECK(refusal("Time to First Token-n-max 2\n8t/s 1t/s").find("not with how many draft tokens") != std::string::npos);
    CHECK(refusal("Time to First Token-n-max 2\n8t/s 1t/s 3t/s\n5 t/s").find("not with how many draft tokens") !=
          std::string::npos);
}

TEST_CASE("titles are cut between characters") {
    std::string title;
    for (int i = 0; i < 40; ++i) {
        title += "\u20AC";
    }
    const runs::MeasuredRun run = of_text("n-max 1\nbase: 8t/s\n-n" + title + "2\nbase:1");
    REQUIRE(run.remarks.size() == 2);
    CHECK(run.remarks[1].find("what stands under \"-n") != std::string::npos);
    CHECK_NOTHROW(runs::run_json(run).dump());
}

TEST_CASE("a load that stands behind the rates, or alone below them, is theirs") {
    const auto batches = [](const std::string& text) {
        std::string all;
        for (const runs::RunCell& cell : of_text(text).cells) {
            all += std::to_string(std::lround(cell.batch)) + " ";
        }
        return all;
    };
    CHECK(batches("K=3: 2,100 tok/s, no spec: 1,400 tok/s, concurrency 32\n") == "32 32 ");
    CHECK(batches("K=3: 2,100 tok/s, no spec: 1,400 tok/s\nconcurrency 32\n") == "32 32 ");
    CHECK(batches("- K=3: 2,100 tok/s\n- no spec: 1,400 tok/s\n\n(all at batch size 32, RTX 4090)\n") == "32 32 ");
    CHECK(batches("K=3: 150 tok/s per user, no spec: 100 tok/s per user, concurrency 16\n") == "16 16 ");
    CHECK(batches("K=3: 2,100 tok/s, no spec: 1,400 tok/s (batch 32)\n") == "32 32 ");
    // What another sentence says, or what a line goes on to tell, is not of them.
    CHECK(batches("K=3: 210 tok/s, no spec: 140 tok/s. At concurrency 64 it runs out of memory.\n") == "1 1 ");
    CHECK(batches("K=3: 210 tok/s, no spec: 140 tok/s\nWith concurrency 64 it runs out of memory\n") == "1 1 ");
    CHECK(batches("K=3: 210 tok/s, no spec: 140 tok/s\nconcurrency 8\nconcurrency 16\n") == "1 1 ");
    const runs::MeasuredRun run = of_text("K=3: 210 tok/s, no spec: 140 tok/s, 8k context\n");
    CHECK(run.cells.front().context == 8192.0);
}

TEST_CASE("a share of drafts may stand a blank before its sign, and what cannot be is said of its line") {
    const runs::MeasuredRun run = of_text("no spec: 42 t/s\n- n=2: 63 t/s (accept 71 %)\n- n=3: 70 t/s, acceptance 81 %\n");
    CHECK(with_drafts(run, 2).accept_length() == Approx(1.0 + 0.71 * 2.0));
    CHECK(with_drafts(run, 3).accept_length() == Approx(1.0 + 0.81 * 3.0));
    const runs::MeasuredRun more = of_text("no spec: 42 t/s\nn=2: 63 t/s\nn=3: 70 t/s, accept length 7.1\n");
    REQUIRE(more.cells.size() == 2);
    const auto says = [&](const std::string& part) {
        return std::any_of(more.remarks.begin(), more.remarks.end(),
                           [&](const std::string& remark) { return remark.find(part) != std::string::npos; });
    };
    CHECK(says("line 3: gives an accept length of 7.10 of 3 draft tokens"));
}

}  // namespace prose_test
