// Tables that set plain decoding beside speculation, as people put them into issues of 2026: both in a cell, a load or a draft
// length in each column, without a unit. The forms are those of public threads; the numbers are made up, expected values
// arithmetic on them: 22 tokens/s are 45.455 ms, 40 are 25 ms.
#include <catch2/catch.hpp>

#include "typed_run.h"

namespace side_by_side_test {

using namespace treeline;
using namespace treeline::testing::typed;
using Catch::Detail::Approx;

namespace {

const std::string both = "1/0/0: 45455, 4/0/0: 62500, 1/3/0: 25000, 4/3/0: 50000";

const runs::RunCell& cell_at(const runs::MeasuredRun& run, double batch, int drafts) {
    for (const runs::RunCell& cell : run.cells) {
        if (cell.batch == batch && cell.draft_tokens == drafts) {
            return cell;
        }
    }
    FAIL("no load of batch " << batch << " with " << drafts << " drafts");
    return run.cells.front();
}

}  // namespace

TEST_CASE("both sides of an arrow, named by heading, caption, column or flag") {
    const std::string rows = "| 1 | 22.0 → 40.0 |\n| 4 | 64 → 80 |\n";
    CHECK(cells_of(read("| slots | tok/s (plain → MTP, 3 drafts) |\n|---|---|\n" + rows)) == both);
    CHECK(cells_of(read("| Slots | Throughput (baseline → MTP n=3) |\n|---|---|\n" + rows)) == both);
    CHECK(cells_of(read("decode throughput with MTP, draft-n-max 3\n\n| slots | before → after |\n|---|---|\n" + rows)) ==
          both);
    CHECK(cells_of(read("| slots | t/s |\n|---|---|\n" + rows, 3)) == both);
    // Models of their own are deployments of their own.
    const runs::MeasuredRun slots = read(
        "| Slot | Model | n_max | Decode Δ |\n|---|---|---|---|\n| `coding` | Qwen3.6-27B Q6_K | 2 | 22.0 → 40.0 (+82%) |\n"
        "| `chat` | Qwen3.6-35B-A3B | 2 | 88 → 116 (+32%) |\n");
    CHECK(cells_of(slots) == "1/0/0: 45455, 1/2/0: 25000");
    CHECK(says(remarks_of(slots), "rows of another model"));
    CHECK(says(remarks_of(slots), "tokens/s"));
}

TEST_CASE("an arrow that nothing names is refused, and so is one between two builds") {
    CHECK(says(refusal("| slots | t/s |\n|---|---|\n| 1 | 22.0 → 40.0 |\n"), "hold two numbers each"));
    CHECK(says(refusal("| slots | t/s (main → this PR) |\n|---|---|\n| 1 | 22.0 → 40.0 |\n", 3), "hold two numbers each"));
}

TEST_CASE("columns without a unit: by the line above, by their speed-up, or refused with what to write") {
    const std::string table = "| slots | plain | MTP n=3 |\n|---|---|---|\n| 1 | 22.0 | 40.0 |\n| 4 | 64 | 80 |\n";
    CHECK(cells_of(read("tok/s\n\n" + table)) == both);
    CHECK(says(refusal(table), "the columns \"plain\" and \"MTP n=3\" name no unit") == false);
    CHECK(says(refusal(table), "columns \"plain\" and \"MTP n=3\" name no unit: a line above the table"));
    CHECK(says(refusal("| Prompt | n=0 | n=2 | n=3 |\n|---|---|---|---|\n| code | 22.0 | 38.1 | 42.2 |\n"),
               "columns \"n=0\", \"n=2\" and \"n=3\" name no unit"));
    const std::string speedup =
        "| Tokens | Baseline | DFlash | Speedup | Accept |\n|---|---|---|---|---|\n| 256 | 22.0 | 40.0 | 1.82x | 85 % |\n";
    const runs::MeasuredRun rates = read(speedup, 7);
    CHECK(cells_of(rates) == "1/0/128: 45455, 1/7/128: 25000");
    CHECK(cell_at(rates, 1, 7).accept_length() == Approx(1.0 + 0.85 * 7));
    CHECK(says(remarks_of(rates), "by the speed-up beside them they are tokens/s"));
    // Times would shrink by that factor.
    CHECK(says(refusal("| Tokens | Baseline | DFlash | Speedup |\n|---|---|---|---|\n| 256 | 40.0 | 22.0 | 1.82x |\n", 7),
               "name no unit"));
}

TEST_CASE("a column that is called by its drafter holds times, where its cells count no drafts") {
    const runs::MeasuredRun run =
        read("Generation tok/s, --spec-draft-n-max 3\n\n| task | baseline | MTP |\n|---|---|---|\n| code | 22.0 | 40.0 |\n");
    CHECK(cells_of(run) == "1/0/0: 45455, 1/3/0: 25000");
    CHECK(cells_of(read("| MTP | tok/s |\n|---|---|\n| 0 | 22 |\n| 3 | 40 |\n")) == "1/0/0: 45455, 1/3/0: 25000");
}

TEST_CASE("a load in each column, beside an acceptance of all") {
    const runs::MeasuredRun run = read(
        "| num_speculative_tokens | TTFT | Single-stream | 8 concurrent | Avg draft acceptance |\n|---|---|---|---|---|\n"
        "| 4 (default) | 131 ms | 50 tok/s | 200 tok/s | 45-53% |\n| **2** | **91 ms** | 40 tok/s | **320 tok/s** | 66% |\n");
    CHECK(cells_of(run) == "1/2/0: 25000, 8/2/0: 25000, 1/4/0: 20000, 8/4/0: 40000");
    CHECK(cell_at(run, 8, 4).accept_length() == Approx(1.0 + 0.49 * 4));
    CHECK(cells_of(read("tok/s\n\n| c | baseline | n=2 |\n|---|---|---|\n| 1 | 22 | 40 |\n| 8 | 80 | 100 |\n")) ==
          "1/0/0: 45455, 8/0/0: 100000, 1/2/0: 25000, 8/2/0: 80000");
    CHECK(cells_of(read("### Aggregate throughput (tok/s)\n\n| Drafter | np=1 | np=2 |\n|---|---|---|\n| MTP k=3 | 40 | 50 |\n"
                        "| none | 22 | 44 |\n")) == "1/0/0: 45455, 2/0/0: 45455, 1/3/0: 25000, 2/3/0: 40000");
}

TEST_CASE("an accept length in each column, beside the times of as many drafts") {
    const runs::MeasuredRun run = read(
        "Decode throughput (tok/s), and `A(k)` = mean acceptance length\n\n| context | spec off | k=1 | A(1) | k=2 | A(2) |\n"
        "|---|---|---|---|---|---|\n| 1K | 40 | 25 | 1.81 | 20 | 2.44 |\n");
    CHECK(cells_of(run) == "1/0/1024: 25000, 1/1/1024: 40000, 1/2/1024: 50000");
    CHECK(cell_at(run, 1, 1).accept_length() == Approx(1.81));
    CHECK(cell_at(run, 1, 2).accept_length() == Approx(2.44));
    CHECK(cell_at(run, 1, 0).accept_length() == Approx(1.0));
}

TEST_CASE("rows that begin with a number of which nothing is known are not averaged") {
    const std::string rows = "|---|---|---|\n| 1 | 54.47 | 33.09 |\n| 4 | 64.1 | 61.9 |\n";
    CHECK(says(refusal("| QPS | Baseline TPOT | k=1 TPOT |\n" + rows), "\"QPS\", which are arrivals"));
    CHECK(says(refusal("| hops | Baseline TPOT | k=1 TPOT |\n" + rows), "\"hops\", which is no load that is known"));
    CHECK(cells_of(read("| run | Baseline TPOT | k=1 TPOT |\n|---|---|---|\n| 1 | 50 | 30 |\n| 2 | 60 | 34 |\n")) ==
          "1/0/0: 55000, 1/1/0: 32000");
}

TEST_CASE("rows of several drafters, and a row of two draft lengths") {
    const runs::MeasuredRun run = read(
        "| config | out tok/s | accept len |\n|---|---|---|\n| baseline | 20 | - |\n| **DFlash K=7** | **25** | **2.6** |\n"
        "| DFlash K=5 / K=3 | 12.86 / 12.55 | ~1.6 |\n| draft_model Qwen3-0.6B K=3 | 40 | 2.9 |\n");
    CHECK(cells_of(run) == "1/0/0: 50000, 1/7/0: 40000");
    CHECK(says(remarks_of(run), "rows of draft model beside those of dflash"));
    CHECK(says(remarks_of(run), "names two draft lengths"));
}

TEST_CASE("tables under the names of other devices and models are other deployments") {
    const std::string head = "| concurrency | off tok/s | MTP k=3 tok/s |\n|---|---|---|\n";
    const runs::MeasuredRun devices = read("### H100\n\n" + head + "| 1 | 22 | 40 |\n| 4 | 64 | 80 |\n\n### A100\n\n" + head +
                                           "| 1 | 11 | 20 |\n| 8 | 64 | 80 |\n");
    CHECK(cells_of(devices) == both);
    CHECK(says(remarks_of(devices), "the table under a100 was left out beside that of h100"));
    CHECK(cells_of(read("## Qwen3.6-27B\n\n" + head + "| 1 | 22 | 40 |\n\n## Qwen3.6-35B-A3B\n\n" + head +
                        "| 1 | 88 | 116 |\n")) == "1/0/0: 45455, 1/3/0: 25000");
    // Of one deployment, with a load in each.
    CHECK(cells_of(read("batch=1, H200\n\n| draft tokens | tok/s |\n|---|---|\n| none | 22 |\n| 3 | 40 |\n\n"
                        "batch=4, H200\n\n| draft tokens | tok/s |\n|---|---|\n| none | 64 |\n| 3 | 80 |\n")) == both);
}

TEST_CASE("decimal commas, ranges behind a mean, counts as a rate") {
    CHECK(cells_of(read("| Kontext | ohne MTP | mit MTP (n=3) |\n|---|---|---|\n| 4k | 12,5 tok/s | 40,0 tok/s |\n")) ==
          "1/0/4096: 80000, 1/3/4096: 25000");
    CHECK(cells_of(read("| conc | k=0 tok/s | k=3 tok/s |\n|---|---|---|\n| 64 | 1,024.0 | 12,800 |\n")) ==
          "64/0/0: 62500, 64/3/0: 5000");
    CHECK(cells_of(
              read("| ctx | tg t/s (base) | tg t/s (MTP n=2) |\n|---|---|---|\n| 1024 | 40 (38.8-42.9) | 50.0 (48–53) |\n")) ==
          "1/0/1024: 25000, 1/2/1024: 20000");
    const runs::MeasuredRun counted =
        read("| n-max | tok/s | accepted |\n|---|---|---|\n| 0 | 25 | - |\n| 2 | 40 | 120/150 |\n| 3 | 50 | 0.6 |\n");
    CHECK(cell_at(counted, 1, 2).accept_length() == Approx(1.0 + 2 * 0.8));
    CHECK(cell_at(counted, 1, 3).accept_length() == Approx(1.0 + 3 * 0.6));
    CHECK(cells_of(read("| Method | τ | tok/s |\n|---|---|---|\n| Vanilla | 1.00 | 50 |\n| EAGLE-3 (γ=5) | 3.9 | 125 |\n")) ==
          "1/0/0: 20000, 1/5/0: 8000");
    // Gaps between messages are no times per token, and their unit is there.
    CHECK(says(refusal("| concurrency | ITL off (ms) | ITL MTP k=3 (ms) |\n|---|---|---|\n| 1 | 20.0 | 31.0 |\n"),
               "no column of times per token"));
}

TEST_CASE("tables in HTML, between blanks, and records that something wraps") {
    CHECK(cells_of(
              read("<table>\n<tr><th>concurrency</th><th>baseline tok/s</th><th>MTP k=3 tok/s</th></tr>\n"
                   "<tr><td>1</td><td>22</td><td><b>40</b></td></tr>\n<tr>\n  <td>4</td>\n  <td>64</td>\n  <td>80</td>\n</tr>\n"
                   "</table>\n")) == both);
    CHECK(cells_of(read("concurrency   baseline(tok/s)   mtp3(tok/s)\n1             22.0              40.0\n"
                        "4             64.0              80.0\n")) == both);
    CHECK(cells_of(read(R"({"model": "m", "results": [{"concurrency": 1, "num_speculative_tokens": 0, "tpot_ms": 20.0},
                            {"concurrency": 1, "num_speculative_tokens": 3, "tpot_ms": 11.0, "accept_length": 2.4}]})")) ==
          "1/0/0: 20000, 1/3/0: 11000");
}

TEST_CASE("rates by position in columns, and an accept length beside no counts") {
    const runs::MeasuredRun positions =
        read("| k | pos 1 | pos 2 | tok/s |\n|---|---|---|---|\n| 1 | 0.81 | | 40 |\n| 2 | 0.80 | 61% | 50 |\n");
    CHECK(cell_at(positions, 1, 1).accept_length() == Approx(1.81));
    CHECK(cell_at(positions, 1, 2).accept_length() == Approx(2.41));
    const runs::MeasuredRun metrics = read(
        "| Metric | no spec | EAGLE3 (k=3) | diff |\n|---|---|---|---|\n| Mean TPOT (ms) | 12.1 | 8.2 | -32% |\n"
        "| Output token throughput (tok/s) | 640 | 930 | +45% |\n| Acceptance length | - | 2.31 | |\n");
    CHECK(cells_of(metrics) == "0/0/0: 12100, 0/3/0: 8200");  // nothing says how many requests
    CHECK(metrics.cells.back().accept_length() == Approx(2.31));
    CHECK(says(
        refusal(
            "| Metric | EAGLE3 (k=3) | n |\n|---|---|---|\n| Mean TPOT (ms) | 8.2 | x |\n| Acceptance length | 4.31 | x |\n"),
        "more than can be"));
}

TEST_CASE("an accept length in a column that is called by its letter") {
    const runs::MeasuredRun run = read(
        "| Batch | AR latency (ms/tok) | EAGLE3 k=4 latency (ms/tok) | τ |\n|---|---|---|---|\n| 8 | 10.3 | 6.6 | 3.1 |\n");
    CHECK(cells_of(run) == "8/0/0: 10300, 8/4/0: 6600");
    CHECK(cell_at(run, 8, 4).accept_length() == Approx(3.1));
}

TEST_CASE("statistics of LM Studio's SDK: rounds are tokens that were not drafted") {
    const runs::MeasuredRun run = read(
        R"({"stats": {"stopReason": "eosFound", "tokensPerSecond": 50, "promptTokensCount": 120, "predictedTokensCount": 401,
                 "usedDraftModelKey": "qwen3-0.6b", "totalDraftTokensCount": 600, "acceptedDraftTokensCount": 200}})");
    REQUIRE(run.cells.size() == 1);
    CHECK(run.cells[0].draft_tokens == 3);
    CHECK(run.cells[0].acceptance.drafts == 200);
    CHECK(run.cells[0].round.mean() == Approx(8.02 / 200));
    CHECK(run.identity.drafter == "qwen3-0.6b");
    CHECK(says(refusal(R"({"stats": {"tokensPerSecond": 0, "predictedTokensCount": 4}})"), "above 0"));
}

TEST_CASE("with and without, of two models and their draft models") {
    const runs::MeasuredRun run = read(
        "Prompt | Main Model | Draft Model | w/o Spec. | w/ Spec. | tok/sec speedup\n---|---|---|---|---|---\n"
        "\"Write\" | Qwen2.5-32B | Qwen2.5-0.5B | 20 tok/s | 40 tok/s | 2.0x\n"
        "\"Explain\" | Llama-3.1-8B | Llama-3.2-1B | 50 tok/s | 80 tok/s | 1.6x\n",
        4);
    CHECK(cells_of(run) == "1/0/0: 50000, 1/4/0: 25000");
    CHECK(says(remarks_of(run), "rows of another main model"));
}

TEST_CASE("slots, users and streams of a sentence are requests in flight") {
    CHECK(cells_of(read("1 slot: 22.0 → 40.0 tok/s with n-max 3\n4 slots: 64 → 80 tok/s with n-max 3\n")) == both);
    CHECK(cells_of(read("with 4 users K=3 gives 80 tok/s, no spec 64 tok/s\n")) == "4/0/0: 62500, 4/3/0: 50000");
}

TEST_CASE("mtplx tune: plain decoding, and each depth") {
    const runs::MeasuredRun run = read(
        "MTPLX Tune\nResults written to ...\n\nAR     20.0 tok/s   1.00x\nD1     25.0 tok/s   1.25x\nD2     40.0 tok/s   2.00x "
        " "
        "BEST\n\nBest for this Mac: D2, 2.00x AR\n");
    CHECK(cells_of(run) == "1/0/0: 50000, 1/1/0: 40000, 1/2/0: 25000");
    CHECK(run.identity.engine == "mlx");
}

TEST_CASE("a plain answer above the next command is not one of the drafting server's") {
    const std::string answer = "slot print_timing: id  0 | task 1 |        eval time =    5100.00 ms /   256 tokens (x)\n";
    const runs::MeasuredRun run =
        read("llama-server -m q.gguf\n" + answer +
             "llama-server -m q.gguf --spec-type draft-mtp --spec-draft-n-max 3\n"
             "slot print_timing: id  0 | task 1 |        eval time =    4650.00 ms /   256 tokens (x)\n"
             "slot print_timing: id  0 | task 1 | draft acceptance rate = 0.6 (  162 accepted /   270 "
             "generated)\n");
    // 255 steps of 20 ms; 93 rounds of 50 ms.
    CHECK(cell_at(run, 1, 0).round.mean() == Approx(0.020));
    CHECK(cell_at(run, 1, 3).round.mean() == Approx(0.050));
    CHECK_FALSE(cell_at(run, 1, 3).tpot.known());
}

}  // namespace side_by_side_test
