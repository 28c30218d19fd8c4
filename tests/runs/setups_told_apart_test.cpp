// Is what was drafted told from what was decoded plainly, and one drafter or format from another? The numbers are made up.
#include <catch2/catch.hpp>

#include "typed_run.h"

namespace setups_told_apart_test {

using namespace treeline;
using namespace treeline::testing::typed;

TEST_CASE("counts of drafted and accepted tokens are no lengths") {
    const std::string text = "18 draft tokens, 9 accepted. MTP enabled ran at 20 tok/s, spec disabled at 10 tok/s\n";
    CHECK(says(refusal(text), "--draft-tokens K"));
    const runs::MeasuredRun run = read(text, 3);
    CHECK(cells_of(run) == "1/0/0: 100000, 1/3/0: 50000");
    CHECK(run.cells.back().stated_length == 0.0);
    CHECK(cells_of(read("Pure Q8_0 ran at 10 tok/s; MTP with 3 draft tokens at 20 tok/s\n")) == "1/0/0: 100000, 1/3/0: 50000");
    CHECK(cells_of(read("With K=3 I get 20 tok/s; disabling speculative decoding gives 10 tok/s\n")) ==
          "1/0/0: 100000, 1/3/0: 50000");
}

TEST_CASE("the name of an item is none of a prompt's reading") {
    const runs::MeasuredRun run =
        read("Prompt 1: 20 tok/sec without draft, 25 tok/sec with draft. 50% accepted draft tokens.\n", 4);
    CHECK(cells_of(run) == "1/0/0: 50000, 1/4/0: 40000");
    CHECK(run.cells.back().stated_length == Approx(3.0));
    CHECK(cells_of(read("Prompt 1: 20 tok/s without draft, 25 tok/s with draft (K=4)\n")) == "1/0/0: 50000, 1/4/0: 40000");
}

TEST_CASE("a table under a ruler between bars is no prose") {
    const std::string other = refusal("EAGLE3 (n=3) | MTP (n=2)\n---|---\n20 tok/s | 30 tok/s\n");
    CHECK(says(other, "\"EAGLE3 (n=3)\" and \"MTP (n=2)\" were left out"));
    CHECK(says(refusal("EAGLE-3 K=3 | n-gram K=3\n---|---\n210 tok/s | 130 tok/s\n"), "were left out"));
    CHECK(cells_of(read("off | MTP (n=2)\n---|---\n20 tok/s | 40 tok/s\n\nSo K=3 gives 50 tok/s.\n")) ==
          "1/0/0: 50000, 1/2/0: 25000");
}

TEST_CASE("columns of accepted drafts say that a table drafts") {
    const std::string table =
        "| sampling | accept rate | tok/cycle | throughput |\n|---|---|---|---|\n"
        "| greedy | accept=45/60 (75%) | 3.25 | ~80 tok/s |\n| t=0.7 | accept=0/60 (0.0%) | 1.0 | ~40 tok/s |\n";
    CHECK(says(refusal(table), "--draft-tokens K"));
    const runs::MeasuredRun run = read(table, 3);
    REQUIRE(run.cells.size() == 1);
    CHECK(run.cells.front().draft_tokens == 3);
    CHECK(read("| K | accept rate | tok/s |\n|---|---|---|\n| 2 | accept=45/60 (75%) | 80 |\n").cells.front().stated_length ==
          Approx(2.5));
}

TEST_CASE("what is on beside the same that is off drafts") {
    const std::string text =
        "XYZ off\n\n| conc | tok/s |\n|---|---|\n| 1 | 20 |\n\nXYZ on\n\n| conc | tok/s |\n|---|---|\n| 1 | 25 |\n";
    CHECK(says(refusal(text), "--draft-tokens K"));
    CHECK(cells_of(read(text, 3)) == "1/0/0: 50000, 1/3/0: 40000");
}

TEST_CASE("an n-gram drafter is one") {
    const std::string report =
        "\n\n============ Serving Benchmark Result ============\nSuccessful requests: 100\n"
        "Maximum request concurrency: 4\nTotal generated tokens: 25800\nMean TPOT (ms): {}\n"
        "==================================================\n\n";
    const std::string text =
        "baseline:" + fmt::format(fmt::runtime(report), 20) + "n-gram" + fmt::format(fmt::runtime(report), 10);
    CHECK(says(refusal(text), "--draft-tokens K"));
    CHECK(cells_of(read(text, 3)) == "4/0/129: 20000, 4/3/129: 10000");
}

TEST_CASE("formats in two words and a drafter that is called draft are told apart") {
    const runs::MeasuredRun bits =
        read("K=3\n8 bit no spec 20 t/s\n8 bit with spec 25 t/s\n4 bit no spec 40 t/s\n4 bit with spec 50 t/s\n");
    CHECK(cells_of(bits) == "1/0/0: 50000, 1/3/0: 40000");
    CHECK(says(remarks_of(bits), "4-bit"));
    const runs::MeasuredRun kinds =
        read("| Variant | tok/s | K |\n|---|---|---|\n| baseline | 20 | 0 |\n| mtp | 40 | 3 |\n| draft | 25 | 3 |\n");
    CHECK(cells_of(kinds) == "1/0/0: 50000, 1/3/0: 25000");
    CHECK(says(remarks_of(kinds), "rows of draft model beside those of mtp"));
}

TEST_CASE("rows of another back end, build, cache or device are kept apart with their acceptance") {
    const auto lengths_of = [](const runs::MeasuredRun& run) {
        std::string text;
        for (const std::vector<runs::RunCell>* cells : {&run.cells, &run.elsewhere}) {
            for (const runs::RunCell& cell : *cells) {
                text += fmt::format("{}{} {}: {:.2f}", text.empty() ? "" : ", ", cell.variant, cell.draft_tokens,
                                    cell.accept_length());
            }
        }
        return text;
    };
    // llama.cpp issue 26750: 92.0 % and 40.7 % of three drafts are 3.76 and 2.22 tokens a round.
    const runs::MeasuredRun run = read(
        "| backend | n-max | draft acceptance | tok/s |\n|---|---|---|---|\n| Vulkan | 3 | 92.0% | 41.2 |\n| CUDA | 3 | 40.7% "
        "| 25.9 |\n");
    CHECK(lengths_of(run) == "Vulkan 3: 3.76, CUDA 3: 2.22");
    CHECK(run.cells.size() == 1);
    CHECK(says(remarks_of(run), "rows of CUDA are kept apart from those of Vulkan"));
    CHECK(
        lengths_of(read("| build | K | accept length | tok/s |\n|---|---|---|---|\n| b9100 | 2 | 2.4 | 40 |\n| b9200 | 2 | 1.3 "
                        "| 25 |\n")) == "b9100 2: 2.40, b9200 2: 1.30");
    CHECK(
        lengths_of(read("| KV cache | K | accept length | tok/s |\n|---|---|---|---|\n| f16 | 2 | 2.4 | 40 |\n| q4_0 | 2 | 1.3 "
                        "| 25 |\n")) == "f16 2: 2.40, q4_0 2: 1.30");
    CHECK(lengths_of(
              read("| config | K | accept length | tok/s |\n|---|---|---|---|\n| ROCm | 2 | 2.4 | 40 |\n| Vulkan | 2 | 1.3 "
                   "| 25 |\n")) == "rocm 2: 2.40, vulkan 2: 1.30");
    // A share of the cache in use is a load's, not a deployment's.
    CHECK(read("| concurrency | KV cache | K | accept length | tok/s |\n|---|---|---|---|---|\n| 1 | 2% | 2 | 2.4 | 40 |\n| 4 "
               "| 8% "
               "| 2 | 2.3 | 120 |\n")
              .elsewhere.empty());
}

TEST_CASE("files whose drafts yield twice as much at a load are two deployments, and other averages are said") {
    const auto file = [](const char* name, double length, double milliseconds) {
        runs::MeasuredRun run;
        run.sources = {{name, ""}};
        run.cells.resize(1);
        run.cells.front().batch = 1.0;
        run.cells.front().draft_tokens = 3;
        run.cells.front().stated_length = length;
        run.cells.front().round.add(1e-3 * milliseconds);
        return run;
    };
    const runs::MeasuredRun apart = runs::joined({file("cuda.json", 2.221, 85.8), file("vulkan.json", 3.76, 91.3)});
    REQUIRE(apart.cells.size() == 1);
    REQUIRE(apart.elsewhere.size() == 1);
    CHECK(apart.cells.front().stated_length == Approx(2.221));
    CHECK(apart.elsewhere.front().variant == "vulkan.json");
    CHECK(says(remarks_of(apart), "kept apart"));
    const runs::MeasuredRun mean = runs::joined({file("a.json", 2.2, 85.8), file("b.json", 2.6, 91.3)});
    REQUIRE(mean.cells.size() == 1);
    CHECK(mean.elsewhere.empty());
    CHECK(mean.cells.front().stated_length == Approx(2.4));
    CHECK(says(remarks_of(mean), "a round yields 2.60 tokens, where 2.20 were read before; 2.40 is kept"));
    CHECK(runs::joined({file("a.json", 2.2, 85.8), file("b.json", 2.25, 91.3)}).remarks.empty());
    runs::MeasuredRun triton = file("a.log", 2.2, 85.8), rocm = file("b.log", 2.2, 85.8);
    triton.settings.attention = "TRITON_ATTN";
    rocm.settings.attention = "ROCM_ATTN";
    CHECK(runs::joined({triton, rocm}).elsewhere.size() == 1);
    rocm.cells.front().draft_tokens = 0;  // a baseline may take other kernels
    CHECK(runs::joined({triton, rocm}).elsewhere.empty());
}

/// What `vllm bench serve` prints, with times per token in milliseconds.
std::string report(double tpot, const std::string& more = "") {
    return fmt::format(
        "============ Serving Benchmark Result ============\nSuccessful requests: 80\nMaximum request concurrency: 8\n"
        "Total input tokens: 8000\nTotal generated tokens: 8000\nMean TPOT (ms): {}\n{}"
        "==================================================\n",
        tpot, more);
}

TEST_CASE("reports of a serving benchmark under another model, format or device are left out") {
    const std::string drafts = "Drafts: 4000\nDraft tokens: 8000\nAccepted tokens: 4000\n";
    const auto both = [&](const std::string& first, const std::string& second) {
        return read(first + "\n" + report(20) + "\n" + second + "\n" + report(10, drafts));
    };
    const std::string all = "8/0/150: 20000, 8/2/150: 10000", plain = "8/0/150: 20000";
    CHECK(cells_of(both("## A-35B-MTP-FP8 on 2x 5090, MTP off", "## A-35B-MTP-FP8 on 2x 5090, MTP 2")) == all);
    CHECK(cells_of(both("## A-35B baseline", "## A-35B-speculator.eagle3")) == all);  // the same target
    for (const auto& [first, second] : {std::pair{"## A-35B-FP8, MTP off", "## A-35B-NVFP4, MTP 2"},
                                        {"## A-35B baseline", "## B-27B with MTP"},
                                        {"## Baseline on H100", "## MTP on B200"},
                                        {"", "### FP8 results with MTP"}}) {
        const runs::MeasuredRun run = both(first, second);
        CHECK(cells_of(run) == plain);
        CHECK(says(remarks_of(run), "was left out beside"));
    }
    CHECK(cells_of(both("## A-35B baseline", "## With draft model A-1B-Q8_0")) == all);
    CHECK(cells_of(both("## A-35B on H100", "## With MTP")) == all);  // a title that names neither is of the same
}

TEST_CASE("tables of metrics under another format are left out") {
    const auto table = [](const char* title, int plain, int drafts) {
        return fmt::format("## {}\n\n| Metric | MTP=off | MTP k=2 |\n|---|---|---|\n| TPOT (ms) | {} | {} |\n\n", title, plain,
                           drafts);
    };
    const runs::MeasuredRun run = read(table("FP8", 10, 8) + table("BF16", 20, 12));
    CHECK(cells_of(run) == "0/0/0: 10000, 0/2/0: 8000");
    CHECK(says(remarks_of(run), "the table under bf16 was left out beside that of fp8"));
    CHECK(cells_of(read(table("Run 1", 10, 8) + table("Run 2", 20, 12))) == "0/0/0: 15000, 0/2/0: 10000");
}

TEST_CASE("a format is told from a name that holds it") {
    const runs::MeasuredRun run = read(
        "| Run | Draft tokens | TPOT ms |\n|---|---|---|\n| `baseline_bf16_c16` | N/A | 8 |\n| `fp8_c16` | N/A | 5 |\n"
        "| `fp8_spec_n1_c16` | 1 | 4 |\n| `spec_bf16_n1_c16` | 1 | 6 |\n| `spec_kv_fp8_n1_c32` | 1 | 7 |\n");
    CHECK(cells_of(run) == "16/0/0: 8000, 16/1/0: 6000, 32/1/0: 7000");  // the last names a cache
    CHECK(says(remarks_of(run), "rows of fp8 beside those of bf16 were left out"));
}

TEST_CASE("rows that keep other layers or experts on the host are kept apart") {
    const std::string text =
        "| config | tok/s |\n|---|---|\n| K=2, `--n-cpu-moe 44` | 25 |\n| K=2, `--n-cpu-moe 32` | 20 |\n| K=0, `--n-cpu-moe "
        "44` "
        "| 10 |\n";
    const runs::MeasuredRun run = read(text);
    CHECK(cells_of(run) == "1/0/0: 100000, 1/2/0: 40000");
    REQUIRE(run.elsewhere.size() == 1);
    CHECK(run.elsewhere.front().variant == "n-cpu-moe 32");
    CHECK(says(remarks_of(run), "rows of n-cpu-moe 32 are kept apart from those of n-cpu-moe 44"));
    CHECK(cells_of(read("| ngl | K | tok/s |\n|---|---|---|\n| 99 | 0 | 10 |\n| 99 | 2 | 20 |\n| 20 | 2 | 5 |\n")) ==
          "1/0/0: 100000, 1/2/0: 50000");
    CHECK(cells_of(read("| config | tok/s |\n|---|---|\n| `--cpu-moe`, no MTP | 10 |\n| `--cpu-moe` + MTP | 20 |\n| "
                        "`--n-cpu-moe 40` + MTP | 25 |\n",
                        2)) == "1/0/0: 100000, 1/2/0: 50000");
}

TEST_CASE("a table whose plain decoding runs at another speed is of another set-up") {
    const auto table = [](const char* title, double plain, double drafts) {
        return fmt::format("## {}\n\n| Config | TPS |\n|---|---|\n| MTP (2) | {} |\n| No MTP | {} |\n\n", title, drafts, plain);
    };
    const runs::MeasuredRun run = read(table("Battery", 40, 50) + table("Charging", 50, 80));
    CHECK(cells_of(run) == "1/0/0: 25000, 1/2/0: 20000");
    CHECK(says(remarks_of(run), "the table under \"Charging\" was left out, since plain decoding takes 20 ms"));
    CHECK_FALSE(says(remarks_of(run), "were averaged"));
    // Within a tenth they are two runs: 25 and 24.39 ms, 20 and 12.5 ms.
    CHECK(cells_of(read(table("Run 1", 40, 50) + table("Run 2", 41, 80))) == "1/0/0: 24695, 1/2/0: 16250");
}

TEST_CASE("rows between which plain decoding changes its speed are of set-ups that a column tells apart") {
    const auto table = [](const char* heading, const char* first, const char* second, double speed) {
        return fmt::format(
            "| {0} | K | tok/s |\n|---|---|---|\n| {1} | 2 | 80 |\n| {2} | 2 | 20 |\n| {1} | 0 | 50 |\n| {2} | 0 | {3} |\n| "
            "{2} | 4 "
            "| 30 |\n",
            heading, first, second, speed);
    };
    for (const auto& [heading, first, second] :
         {std::tuple{"Power", "300W", "600W"}, {"config", "all on GPU", "-ot exps=CPU"}, {"host", "a", "b"}}) {
        const runs::MeasuredRun run = read(table(heading, first, second, 10));
        CHECK(cells_of(run) == "1/0/0: 20000, 1/2/0: 12500");
        CHECK(run.elsewhere.empty());
        CHECK(says(remarks_of(run), fmt::format("rows of \"{}\" were left out beside those of \"{}\"", second, first)));
        CHECK_FALSE(says(remarks_of(run), "averaged"));
        // Within a tenth of each other: 20 and 21.05 ms, 12.5 and 50 ms.
        CHECK(cells_of(read(table(heading, first, second, 47.5))) == "1/0/0: 20526, 1/2/0: 31250, 1/4/0: 33333");
    }
    // Texts and repetitions are averaged.
    CHECK(cells_of(read(table("task", "code", "prose", 10))) == "1/0/0: 60000, 1/2/0: 31250, 1/4/0: 33333");
    CHECK(cells_of(read(table("run", "1", "2", 10))) == "1/0/0: 60000, 1/2/0: 31250, 1/4/0: 33333");
}

TEST_CASE("a range of acceptance is said, and no mean where it is wide") {
    const auto table = [](const char* rate) {
        return fmt::format("| n-max | tok/s | Acceptance |\n|---|---|---|\n| 0 | 20 | - |\n| 2 | 40 | {} |\n", rate);
    };
    const runs::MeasuredRun wide = read(table("0.54-0.98"));
    CHECK(cells_of(wide) == "1/0/0: 50000, 1/2/0: 25000");
    CHECK(wide.cells.back().stated_length == 0.0);
    CHECK(says(remarks_of(wide), "(\"0.54-0.98\"), which is too wide for a mean"));
    const runs::MeasuredRun narrow = read(table("45-53%"));
    CHECK(narrow.cells.back().stated_length == Approx(1.98));  // 49 % of two
    CHECK(says(remarks_of(narrow), "(\"45-53%\"), whose middle was taken"));
    CHECK(read(table("49%")).cells.back().stated_length == Approx(1.98));
    CHECK(read("| n-max | Acceptance |\n|---|---|\n| 2 | 49% |\n| 3 | 0.54-0.98 |\n").cells.size() == 1);
}

}  // namespace setups_told_apart_test
