// Further forms in which people type or paste what they measured: tables whose columns are loads, rows that are metrics,
// spreads and quantiles beside means, reports that count no drafts, Chinese headings, files between commas. The forms are those
// of public threads; the numbers are made up, expected values arithmetic on them.
#include <catch2/catch.hpp>

#include "typed_run.h"

namespace typed_forms_test {

using namespace treeline;
using namespace treeline::testing::typed;
using Catch::Detail::Approx;

namespace {

/// A report of `vllm bench serve` without counts of drafts.
std::string report(double tpot, double itl) {
    return fmt::format(
        "============ Serving Benchmark Result ============\n"
        "Successful requests:                     16\n"
        "Maximum request concurrency:             2\n"
        "Benchmark duration (s):                  20.00\n"
        "Total input tokens:                      1600\n"
        "Total generated tokens:                  3200\n"
        "Mean TPOT (ms):                          {:.2f}\n"
        "Mean ITL (ms):                           {:.2f}\n"
        "Median ITL (ms):                         {:.2f}\n"
        "==================================================\n",
        tpot, itl, itl);
}

}  // namespace

TEST_CASE("a factor over the baseline is no rate of plain decoding") {
    const runs::MeasuredRun run = read(
        "## Concurrency 1\n| num_speculative_tokens | decode tok/s | vs baseline |\n|---|---|---|\n| off | 25 | 1.00\u00d7 |\n"
        "| 2 | 40 | 1.60\u00d7 (peak) |\n");
    CHECK(cells_of(run) == "1/0/0: 40000, 1/2/0: 25000");
}

TEST_CASE("a throughput that names no unit, a draft length in each column") {
    const runs::MeasuredRun run = read(
        "### Aggregate throughput vs concurrency\n| concurrency | n=0 (off) | n=1 | n=2 |\n|---|---|---|---|\n"
        "| 1 | 25 | 40 | **50** |\n| 4 | 80 | 100 | 125 |\n");
    CHECK(cells_of(run) == "1/0/0: 40000, 4/0/0: 50000, 1/1/0: 25000, 4/1/0: 40000, 1/2/0: 20000, 4/2/0: 32000");
    CHECK(says(remarks_of(run), "taken for tokens/s"));
}

TEST_CASE("a load in each column, a draft length in each row") {
    const runs::MeasuredRun run = read(
        "EAGLE3, output tok/s\n\n| K | C=1 | C=8 | TTFT | TPOT | Accept |\n|---|---|---|---|---|---|\n"
        "| 3 | 250 | 1000 | 38ms | 2.91ms | 50% |\n| 4 | 200 | - | 39ms | 3.02ms | 45% |\n");
    CHECK(cells_of(run) == "1/3/0: 4000, 8/3/0: 8000, 1/4/0: 5000");
    CHECK(run.cells.front().accept_length() == Approx(2.5));
    CHECK_FALSE(run.cells.front().ttft.known());  // of which load is not said
    CHECK(says(refusal("| K | C=1 | C=8 | TPOT |\n|---|---|---|---|\n| 3 | 250 | 1000 | 2.91ms |\n"), "no column of times"));
}

TEST_CASE("a setting in each column, a metric in each row") {
    const runs::MeasuredRun run = read(
        "| | HTP baseline | HTP + draft-mtp (n_max=3) |\n|---|---|---|\n| decode | 20 t/s | **25 t/s** (+25%) |\n"
        "| TTFT | 1.5 s | 2 s |\n| accept rate | \u2014 | **0.50** |\n");
    CHECK(cells_of(run) == "1/0/0: 50000, 1/3/0: 40000");
    CHECK(run.cells[0].ttft.mean() == Approx(1.5));
    CHECK(run.cells[1].ttft.mean() == Approx(2.0));
    CHECK(run.cells[1].accept_length() == Approx(2.5));
}

TEST_CASE("times in seconds where the heading says so") {
    const runs::MeasuredRun run = read("| K | TPOT (s) | TTFT (s) |\n|---|---|---|\n| 0 | 0.02 | 0.5 |\n| 2 | 0.01 | 0.6 |\n");
    CHECK(cells_of(run) == "1/0/0: 20000, 1/2/0: 10000");
    CHECK(run.cells[1].ttft.mean() == Approx(0.6));
}

TEST_CASE("a mean and its spread, of tasks in each row") {
    const runs::MeasuredRun run = read(
        "tok/s over 3 runs\n\n| task | no-spec | n_max=1 |\n|---|---|---|\n| code | 25.00/0.07 | 50.00/0.03 (2.00x) |\n"
        "| story | 25.00/0.02 | 40.00/0.31 |\n");
    CHECK(run.cells.size() == 2);
    CHECK(run.cells[0].tpot_seconds() == Approx(1.0 / 25));
    CHECK(run.cells[1].tpot_seconds() == Approx(0.5 * (1.0 / 50 + 1.0 / 40)));
    // Runs beside each other are none of that.
    CHECK(cells_of(read("| K | tok/s |\n|---|---|\n| 2 | 45 / 55 |\n| 0 | 20 / 30 |\n")) == "1/0/0: 40000, 1/2/0: 20000");
}

TEST_CASE("columns of tasks beside the one of all of them") {
    const runs::MeasuredRun run = read(
        "| Mode | Code | Story | Overall | Accept rate |\n|---|---:|---:|---:|---:|\n"
        "| Baseline | 11.3 t/s (1009 tok) | 11.4 t/s | 10.0 \u00b1 0.1 t/s | N/A |\n"
        "| MTP `draft-max 1` | 9.7 t/s (832 tok) | 9.9 t/s | 12.5 \u00b1 0.4 t/s | 80.0% |\n");
    CHECK(cells_of(run) == "1/0/0: 100000, 1/1/0: 80000");
    CHECK(run.cells[1].accept_length() == Approx(1.8));
}

TEST_CASE("a threshold that the heading states leaves rates of acceptance without a length") {
    const runs::MeasuredRun run = read(
        "## Draft size = 10, p-min = 0.85\n| Prompt | Baseline (ts) | MTP (ts) | Accept Rate (%) |\n|---|---|---|---|\n"
        "| sort | 8 | 10 | 62.2% |\n");
    CHECK(cells_of(run) == "1/0/0: 125000, 1/10/0: 100000");
    CHECK_FALSE(run.cells[1].accept_length() > 1.0);
    CHECK(says(remarks_of(run), "p-min"));
}

TEST_CASE("a column N of requests, means beside medians, and medians alone") {
    const runs::MeasuredRun run = read(
        "MTP, num_speculative_tokens=2\n\n| ISL | OSL | Concur | N | TTFT Avg (ms) | TPOT Avg (ms) | TPOT P50 (ms) |\n"
        "|---|---|---|---|---|---|---|\n| 128 | 128 | 1 | 8 | 92 | 20 | 19 |\n| 128 | 128 | 32 | 256 | 2558 | 40 | 39 |\n");
    CHECK(cells_of(run) == "1/2/192: 20000, 32/2/192: 40000");
    const runs::MeasuredRun named = read(
        "speculative_num_steps=3\n| | max_concurrency | output_throughput | mean_tpot_ms | median_tpot_ms | p99_tpot_ms |\n"
        "|---|---|---|---|---|---|\n| 0 | 1.000 | 123 | 8.0 | 7.5 | 9.2 |\n| 1 | 4.000 | 376 | 10.0 | 9.5 | 12.4 |\n");
    CHECK(cells_of(named) == "1/3/0: 8000, 4/3/0: 10000");
}

TEST_CASE("columns of llama-bench's tests by depth") {
    const runs::MeasuredRun run =
        read("MTP n-max 3:\n\n| depth | pp512 | tg128 |\n|---|---|---|\n| 0 | 505 | 25.0 |\n| 32k | 311 | 20 |\n");
    CHECK(cells_of(run) == fmt::format("1/3/64: 40000, 1/3/{}: 50000", 32 * 1024 + 64));
}

TEST_CASE("a time that is called latency per token") {
    const runs::MeasuredRun run = read(
        "| K | mbt | per-token latency | vs no-spec |\n|---|---|---|---|\n| 0 | 1 | 3.20 ms | 1.00x |\n| 2 | 3 | 2.40 ms | "
        "1.33x |\n");
    CHECK(cells_of(run) == "1/0/0: 3200, 1/2/0: 2400");
}

TEST_CASE("rows of another format, backend or number of devices are of another deployment") {
    const runs::MeasuredRun run = read(
        "| quant | K | tok/s |\n|---|---|---|\n| Q4_K_M | 0 | 20 |\n| Q4_K_M | 2 | 25 |\n| Q8_0 | 0 | 10 |\n| Q8_0 | 2 | 12 "
        "|\n");
    CHECK(cells_of(run) == "1/0/0: 50000, 1/2/0: 40000");
    CHECK(says(remarks_of(run), "another quant"));
    const runs::MeasuredRun labelled =
        read("| setup | tok/s |\n|---|---|\n| 27B baseline | 20 |\n| 27B MTP n=2 | 25 |\n| 35B-A3B baseline | 80 |\n");
    CHECK(cells_of(labelled) == "1/0/0: 50000, 1/2/0: 40000");
    CHECK(says(remarks_of(labelled), "35b-a3b"));
    const runs::MeasuredRun cuts = read(
        "**DFlash, k=7, output tok/s**\n| TP \\ Concurrency | 1 | 2 |\n|---|---|---|\n| 1 | 500 | 1000 |\n"
        "| 2 | 800 | 1600 |\n");
    CHECK(cells_of(cuts) == "1/7/0: 2000, 2/7/0: 2000");
    CHECK(cuts.elsewhere.size() == 2);
    CHECK(says(remarks_of(cuts), "rows of tp2 are kept apart from those of tp1"));
}

TEST_CASE("loads within labels, steps in headings, means of accept lengths") {
    const runs::MeasuredRun run = read(
        "| Config | Mean TPOT (ms) | Acceptance length |\n|---|---|---|\n| no spec (c=32) | 20 | - |\n| MTP n=1 (c=32) | 15 | "
        "1.8 |\n"
        "| no spec (c=128) | 30 | - |\n");
    CHECK(cells_of(run) == "32/0/0: 20000, 128/0/0: 30000, 32/1/0: 15000");
    CHECK(
        cells_of(read("TPOT (ms):\n\n| BS | baseline | num_steps=3 | num_steps=5 |\n|---|---|---|---|\n| 1 | 8 | 4 | 5 |\n")) ==
        "1/0/0: 8000, 1/3/0: 4000, 1/5/0: 5000");
    CHECK(
        read("| K | mean AL | pos 0 | ms/tok |\n|---|---|---|---|\n| 2 | 2.31 | 0.79 | 12 |\n").cells.front().accept_length() ==
        Approx(2.31));
    CHECK(cells_of(read("Ohne MTP: 40 tok/s, mit MTP (n=3): 50 tok/s\n")) == "1/0/0: 25000, 1/3/0: 20000");
}

TEST_CASE("GenAI-Perf's table of statistics") {
    const runs::MeasuredRun run = read(
        "\u2503 Statistic \u2503 avg \u2503 min \u2503 p99 \u2503\n\u2502 Time To First Token (ms) \u2502 120.0 \u2502 90.0 "
        "\u2502 190.0 "
        "\u2502\n\u2502 Inter Token Latency (ms) \u2502 12.50 \u2502 11.0 \u2502 14.0 \u2502\n\u2502 Request Latency (ms) "
        "\u2502 4,000.0 "
        "\u2502 3,000.0 \u2502 3,800.0 \u2502\n\u2502 Output Token Throughput (per sec) \u2502 612.00 \u2502 N/A \u2502 N/A "
        "\u2502\n"
        "\u2502 Request Throughput (per sec) \u2502 2.00 \u2502 N/A \u2502 N/A \u2502\n");
    CHECK(cells_of(run) == "8/0/0: 12500");
    CHECK(run.cells.front().ttft.mean() == Approx(0.12));
}

TEST_CASE("a corner that names drafts and loads") {
    const runs::MeasuredRun run =
        read("output tok/s\n\n| K \\ concurrency | 1 | 4 |\n|---|---|---|\n| 0 | 50 | 160 |\n| 2 | 100 | 200 |\n");
    CHECK(cells_of(run) == "1/0/0: 20000, 4/0/0: 25000, 1/2/0: 10000, 4/2/0: 20000");
}

TEST_CASE("answers that a limit of tokens ends are loads, others are none") {
    CHECK(cells_of(read("DFlash k=7, tok/s\n\n| Tokens | Baseline | DFlash |\n|---|---|---|\n| 256 | 50 | 100 |\n"
                        "| 1024 | 40 | 80 |\n")) == "1/0/128: 20000, 1/0/512: 25000, 1/7/128: 10000, 1/7/512: 12500");
    CHECK(cells_of(
              read("| task | n | tokens | tok/s |\n|---|---|---|---|\n| code | 2 | 1009 | 40 |\n| story | 2 | 832 | 40 |\n")) ==
          "1/2/0: 25000");
}

TEST_CASE("reports that count no drafts: what stands above them, and what their gaps tell") {
    const std::string plain = report(20.0, 20.2), drafting = report(10.0, 25.0);
    const runs::MeasuredRun run =
        read("without spec:\n```\n" + plain + "```\ndraft model X, num_speculative_tokens 4\n```\n" + drafting + "```\n");
    CHECK(cells_of(run) == "2/0/200: 20000, 2/4/200: 10000");
    CHECK(run.cells[1].accept_length() == Approx(2.5));
    CHECK(says(remarks_of(run), "(ITL) over the time per token"));
    // Nothing says it: the gaps do, and --draft-tokens tells how many.
    CHECK(says(refusal(plain + drafting), "several tokens, as drafts do; --draft-tokens K"));
    CHECK(cells_of(read(plain + drafting, 3)) == "2/0/200: 20000, 2/3/200: 10000");
    CHECK(cells_of(read(drafting, 0)) == "2/0/200: 10000");
    // A label that the numbers contradict.
    CHECK(says(refusal("## baseline\n" + drafting), "several tokens"));
    CHECK(says(refusal("## With MTP\n" + report(10.0, 10.1)), "was measured with drafts"));
    // A server's command above the report.
    CHECK(cells_of(read("vllm serve x --speculative-config '{\"method\":\"mtp\",\"num_speculative_tokens\":2}'\n" +
                        drafting)) == "2/2/200: 10000");
}

TEST_CASE("a metric in each row: columns that compare, drafts in headings, quantiles in any order") {
    const std::string head = "| Metric | base | + 1.5B Q8 (k=5) | % Difference |\n|---|---|---|---|\n";
    const runs::MeasuredRun run = read("Concurrency: 1\n" + head +
                                       "| Output token throughput (tok/s) | 21 | 34 | 60.7 |\n| Mean TTFT (ms) | 344 | 340 | "
                                       "-1 |\n| Mean TPOT (ms) | 40 | 25 | -39 |\n");
    CHECK(cells_of(run) == "1/0/0: 40000, 1/5/0: 25000");
    CHECK(says(refusal("| Metric | base | EAGLE-3 |\n|---|---|---|\n| TPOT p50 (ms) | 20 | 10 |\n"), "--draft-tokens K"));
    CHECK(cells_of(read("| Metric | base | EAGLE-3 |\n|---|---|---|\n| TPOT p50 (ms) | 20 | 10 |\n", 3)) ==
          "0/0/0: 20000, 0/3/0: 10000");
}

TEST_CASE("AISBench's tables: statistics of requests, and what is common to them") {
    const std::string text =
        "\u5f00\u542fmtp num_speculative_tokens=1\n"
        "\u2502 Performance Parameters \u2502 Stage \u2502 Average \u2502 Min \u2502 N \u2502\n"
        "\u2502 E2EL \u2502 total \u2502 25979.2 ms \u2502 7016.2 ms \u2502 28 \u2502\n"
        "\u2502 TPOT \u2502 total \u2502 25.0 ms \u2502 20.1 ms \u2502 28 \u2502\n"
        "\u2502 ITL \u2502 total \u2502 40.0 ms \u2502 0.1 ms \u2502 28 \u2502\n"
        "\u2502 InputTokens \u2502 total \u2502 1024.0 \u2502 1024.0 \u2502 28 \u2502\n"
        "\u2502 OutputTokens \u2502 total \u2502 1000.0 \u2502 300.0 \u2502 28 \u2502\n"
        "\u255e\u2550\u2550\u2550\u2561\n"
        "\u2502 Common Metric \u2502 Stage \u2502 Value \u2502\n"
        "\u2502 Total Requests \u2502 total \u2502 28 \u2502\n"
        "\u2502 Max Concurrency \u2502 total \u2502 8 \u2502\n"
        "\u2502 Output Token Throughput \u2502 total \u2502 270.0 token/s \u2502\n";
    const runs::MeasuredRun run = read(text);
    CHECK(cells_of(run) == "8/1/1524: 25000");
    CHECK(run.cells.front().accept_length() == Approx(1.6));
    CHECK(run.identity.engine.empty());  // it measures any server
}

TEST_CASE("Chinese headings and sentences") {
    const runs::MeasuredRun table = read(
        "| \u5e76\u53d1 | \u8f93\u5165\u957f\u5ea6 | \u8f93\u51fa\u957f\u5ea6 | MTP\u5173\u95ed TPOT(ms) | MTP=3 TPOT(ms) | "
        "\u63a5\u53d7\u7387 |\n|---|---|---|---|---|---|\n| 1 | 2048 | 512 | 20 | 10 | 0.5 |\n| 16 | 2048 | 512 | 30 | 20 | "
        "0.5 |\n");
    CHECK(cells_of(table) == "1/0/2304: 20000, 16/0/2304: 30000, 1/3/2304: 10000, 16/3/2304: 20000");
    CHECK(table.cells.back().accept_length() == Approx(2.5));
    const runs::MeasuredRun prose = read(
        "\u5355\u5e76\u53d1\uff1a\u5173\u95edMTP 40 tok/s\uff0c\u5f00\u542fMTP\uff08num_speculative_tokens=2\uff0950 tok/s\n"
        "16\u5e76\u53d1\uff1a\u5173\u95edMTP 320 tok/s\uff0c\u5f00\u542fMTP\uff08num_speculative_tokens=2\uff09400 tok/s\n");
    CHECK(cells_of(prose) == "1/0/0: 25000, 16/0/0: 50000, 1/2/0: 20000, 16/2/0: 40000");
}

TEST_CASE("tables between commas and tabs, and records a line") {
    CHECK(cells_of(read("concurrency,num_speculative_tokens,output_tok_s,mean_tpot_ms,acceptance_rate\n1,0,63.3,15,\n"
                        "8,2,540,14,0.60\n")) == "1/0/0: 15000, 8/2/0: 14000");
    const runs::MeasuredRun tabs = read("conc\tspec\tTPOT_ms\tAL\n1\toff\t20\t\n16\teagle3-k3\t25\t2.5\n");
    CHECK(cells_of(tabs) == "1/0/0: 20000, 16/3/0: 25000");
    CHECK(tabs.cells.back().accept_length() == Approx(2.5));
    const runs::MeasuredRun records = read(
        "{\"concurrency\": 1, \"num_speculative_tokens\": 0, \"tpot_ms\": 20.0, \"ttft_ms\": 110}\n"
        "{\"concurrency\": 4, \"num_speculative_tokens\": 3, \"tpot_ms\": 10.0, \"ttft_ms\": 118, \"acceptance_length\": "
        "2.5}\n");
    CHECK(cells_of(records) == "1/0/0: 20000, 4/3/0: 10000");
    CHECK(records.cells.back().accept_length() == Approx(2.5));
    // Sentences with commas are no table.
    CHECK(says(refusal("We ran it, at batch 1, with drafts.\nIt was fast, it was good, and more.\n"), "none of the formats"));
}

TEST_CASE("sentences: labels before colons, setups above lists, acceptance in brackets") {
    CHECK(cells_of(read(
              "- baseline_mtp_off: 64 tokens, 2.9815s, 20.0 tok/s\n- mtp_draft_1: 65 tokens, 2.3853s, 25.0 tok/s, 1.25x\n")) ==
          "1/0/0: 50000, 1/1/0: 40000");
    const runs::MeasuredRun run =
        read("Single request, 2k prompt: spec off 50 tok/s; MTP k=1 80 tok/s (acc 0.80); k=2 100 tok/s\n");
    CHECK(cells_of(run) == "1/0/2048: 20000, 1/1/2048: 12500, 1/2/2048: 10000");
    CHECK(run.cells[1].accept_length() == Approx(1.8));
    CHECK(cells_of(read("Baseline without DFlash:\n- ~200 output tok/s\n- ~4455 ms mean E2E latency\nBest setting:\n"
                        "- num_speculative_tokens=13\n- ~500 output tok/s\n")) == "1/0/0: 5000, 1/13/0: 2000");
    const runs::MeasuredRun setups = read(
        "**SETUP A: FP8 (MTP n=3)**\n  Peak Generation (Decode): 50 tokens/s\n\n**SETUP B: ENFORCE EAGER (MTP n=3)**\n"
        "  Peak Generation (Decode): 20 tokens/s\n");
    CHECK(cells_of(setups) == "1/3/0: 20000");
    CHECK(says(remarks_of(setups), "one deployment"));
}

TEST_CASE("mlxcel's bench, and LM Studio's statistics of an answer") {
    const runs::MeasuredRun bench = read(
        "[bench/mtp] Done: prompt=14 prefill_ms=306.0 decode_ms=4000.0 generated=90 tok/s=22.5 (wall 6.2s) rounds=40 "
        "acceptance_rate=0.625 mean_accepted_len=1.25\n");
    REQUIRE(bench.cells.size() == 1);
    CHECK(bench.cells.front().draft_tokens == 2);  // 50 accepted of 80 drafted in 40 rounds
    CHECK(bench.cells.front().accept_length() == Approx(2.25));
    CHECK(bench.cells.front().round.mean() == Approx(0.1));
    const std::string usage =
        R"({"model":"m","usage":{"prompt_tokens":24,"completion_tokens":201},"stats":{"tokens_per_second":50)";
    const runs::MeasuredRun answer = read(
        usage + R"(,"total_draft_tokens_count":200,"accepted_draft_tokens_count":100},"runtime":{"name":"mlx-llm"}})" + "\n");
    REQUIRE(answer.cells.size() == 1);
    CHECK(answer.identity.engine == "mlx");
    CHECK(answer.cells.front().draft_tokens == 2);
    CHECK(answer.cells.front().accept_length() == Approx(2.0));
    CHECK(read(usage + "}}\n").cells.front().draft_tokens == 0);
}

TEST_CASE("An acceptance said behind the baseline's rate is of the line's drafts") {
    const auto lengths_of = [](const runs::MeasuredRun& run) {
        std::string text;
        for (const runs::RunCell& cell : run.cells) {
            text += fmt::format("{}: {:.2f} ", cell.draft_tokens, cell.accept_length());
        }
        return text;
    };
    CHECK(lengths_of(read("EAGLE-3 k=3 gives 140 tok/s vs 100 tok/s baseline (accept length 2.4)\n")) == "3: 2.40 0: 1.00 ");
    CHECK(lengths_of(read("K=4: 60 tok/s, accept 70%, baseline 30 tok/s\n")) == "4: 3.80 0: 1.00 ");
    CHECK(lengths_of(read("K=2: 60 tok/s, K=4: 70 tok/s, baseline 30 tok/s (accept 70%)\n")) == "2: 0.00 4: 0.00 0: 1.00 ");
}

TEST_CASE("A rate of acceptance that no drafter reaches is a share of something else") {
    const runs::MeasuredRun of_blocks =
        read("| K | tok/s | accept |\n|---|---|---|\n| 0 | 24.1 | |\n| 15 | 52.3 | 85% |\n| 16 | 50 | 40% |\n");
    REQUIRE(of_blocks.cells.size() == 3);
    for (const runs::RunCell& cell : of_blocks.cells) {
        CHECK(cell.accept_length() == Approx(cell.draft_tokens == 16 ? 7.4 : cell.draft_tokens == 15 ? 0.0 : 1.0));
    }
    CHECK(says(remarks_of(of_blocks), "85 % of 15 draft tokens accepted would be 13.8 tokens a round"));
    CHECK(says(remarks_of(of_blocks), "it is 6.7"));
    const runs::MeasuredRun of_chains = read("| K | tok/s | accept |\n|---|---|---|\n| 5 | 52.3 | 85% |\n");
    REQUIRE(of_chains.cells.size() == 1);
    CHECK(of_chains.cells.front().accept_length() == Approx(5.25));
    CHECK(of_chains.remarks.size() == 1);  // of the load alone
}

}  // namespace typed_forms_test
