// What stands above a table and beside it: headings of two lines, loads as headings, ranks, commands of clients. The forms are
// those of public threads; the numbers are made up: 20 tokens/s are 50 ms, 40 are 25 ms.
#include <catch2/catch.hpp>

#include "typed_run.h"

namespace headings_and_commands_test {

using namespace treeline;
using namespace treeline::testing::typed;

TEST_CASE("a heading that names a drafter with its number drafts, however many tokens are asked for") {
    const std::string table = "## A model 8B + eagle1 (TP = 1)\n| Concurrency | tok/s |\n|---|---|\n| 1 | 20 |\n";
    CHECK(says(refusal(table), "--draft-tokens K says it"));
    CHECK(cells_of(read(table, 3)) == "1/3/0: 50000");
}

TEST_CASE("headings of the first of two lines are said of the empty ones behind them") {
    const std::string head = "| Concurrency | Req/s | | Tok/s | |\n|---|---|---|---|---|\n";
    const std::string rows = "| 1 | 2 | 4 | 20 | 40 |\n| 2 | 4 | 8 | 20 | 40 |\n";
    CHECK(cells_of(read(head + "| | off | MTP k=2 | off | MTP k=2 |\n" + rows)) ==
          "1/0/0: 50000, 2/0/0: 100000, 1/2/0: 25000, 2/2/0: 50000");
    // Of two versions one has to be left in.
    const std::string two = refusal(head + "| | **main** | **#123** | **main** | **#123** |\n" + rows);
    CHECK(says(two, "the columns \"Tok/s main\" and \"Tok/s #123\" were left out"));
    CHECK(says(two, "leave one of them in the table"));
}

TEST_CASE("a column without a heading is not left out in silence") {
    const runs::MeasuredRun run = read("| Concurrency | tok/s | |\n|---|---|---|\n| 1 | 20 | 40 |\n");
    CHECK(cells_of(run) == "1/0/0: 50000");
    CHECK(says(remarks_of(run), "columns without a heading were left out"));
    CHECK_FALSE(says(remarks_of(read("| | tok/s |\n|---|---|\n| k=2 | 40 |\n")), "without a heading"));
}

TEST_CASE("numbers behind a name of loads are loads in columns") {
    for (const char* name : {"concurrency", "concurrencies", "batch size"}) {
        const std::string table =
            std::string("| ") + name + " | 1 | 2 | 4 |\n|---|---|---|---|\n| tok/s | 20 | 40 | 1,000.0 |\n";
        CHECK(cells_of(read(table)) == "1/0/0: 50000, 2/0/0: 50000, 4/0/0: 4000");
        CHECK(cells_of(read("#### Baseline Output (tok/s)\n\n" + table)) == "1/0/0: 50000, 2/0/0: 50000, 4/0/0: 4000");
    }
    const std::string both =
        "#### Baseline Output (tok/s)\n\n| concurrencies | 1 | 2 |\n|---|---|---|\n| tok/s | 20 | 40 |\n\n"
        "#### DFLASH Output (tok/s)\n\n| concurrencies | 1 | 2 |\n|---|---|---|\n| tok/s | 40 | 80 |\n";
    CHECK(cells_of(read(both, 7)) == "1/0/0: 50000, 2/0/0: 50000, 1/7/0: 25000, 2/7/0: 25000");
}

TEST_CASE("a client's command above a table says how long its requests are and how many run at once") {
    const std::string table =
        "| Spec | num_speculative_tokens | Decode tok/s | AL |\n|---|---|---|---|\n| MTP | 3 | 200 | 2.8 |\n";
    const auto with = [&](const std::string& flags) {
        return cells_of(read("`vllm bench serve --dataset-name random --random-input-len 64000 --random-output-len 3000 " +
                             flags + "`\n\n" + table));
    };
    // Ten in flight at 200 tokens/s: 50 ms each, at 64000 + 1500 tokens.
    CHECK(with("--num-prompts 10 --request-rate 10") == "10/3/65500: 50000");
    CHECK(with("--num-prompts 10 --request-rate inf") == "10/3/65500: 50000");
    CHECK(with("--num-prompts 80 --max-concurrency 4") == "4/3/65500: 20000");
    CHECK(with("--num-prompts 80 --request-rate 2") == "1/3/65500: 5000");  // not known: one is assumed, and said to be
    CHECK(with("--num-prompts 1000") == "1/3/65500: 5000");
}

TEST_CASE("cuts of a model in columns are kept apart, and a heading's are kept or named") {
    const runs::MeasuredRun run = read(
        "Output throughput in tokens/s\n\n| Concurrency | TP8\u00D7DP1 Baseline | TP8\u00D7DP1 MTP | Speedup | TP4\u00D7DP2 "
        "Baseline | "
        "TP4\u00D7DP2 MTP | Speedup |\n|---|---|---|---|---|---|---|\n| 1 | 20 | 40 | 2x | 10 | 20 | 2x |\n",
        2);
    CHECK(cells_of(run) == "1/0/0: 50000, 1/2/0: 25000");
    REQUIRE(run.elsewhere.size() == 2);
    CHECK(run.elsewhere.front().variant == "tp4 dp2");
    const std::string table = "\n\n| Concurrency | tok/s |\n|---|---|\n| 1 | 20 |\n";
    CHECK(read("A model, TP=4" + table).identity.ranks == 4.0);
    CHECK(says(remarks_of(read("A model, TP4\u00D7DP2" + table)), "\"tp4 dp2\" above the table was not kept"));
    // Two columns without drafts and nothing that folds them: which one is taken is said.
    CHECK(says(remarks_of(read("| Concurrency | old baseline tok/s | new baseline tok/s |\n|---|---|---|\n| 1 | 20 | 40 |\n")),
               "was taken for plain decoding"));
}

TEST_CASE("answers of mtp-bench give a rate in place of the time") {
    const std::string bench = R"({"model": "A-8B", "gguf": "x/A-8B-Q8_0.gguf", "mode": "mtp-3",
        "spec_flags": "--spec-type draft-mtp --spec-draft-n-max 3 -np 1", "results": [
        {"name": "a", "wall_s": 3.0, "predicted_n": 101, "predicted_per_second": 50.5, "draft_n": 120, "draft_n_accepted": 60,
         "accept_rate": 0.5}], "aggregate": {"total_predicted": 101}})";
    const runs::MeasuredRun run = read(bench);
    REQUIRE(run.cells.size() == 1);
    CHECK(run.cells.front().draft_tokens == 3);
    // 101 tokens at 50.5/s are 2 s; 100 - 60 = 40 rounds of 50 ms.
    CHECK(run.cells.front().round.mean() == Approx(0.05));
    CHECK(run.cells.front().acceptance.accept_length() == Approx(2.5));
    CHECK(run.identity.model == "x/A-8B-Q8_0.gguf");
    CHECK(run.identity.method == "mtp");
    const runs::MeasuredRun plain = read(R"({"predicted_n": 101, "predicted_per_second": 50.5})");
    CHECK(plain.cells.front().round.mean() == Approx(0.02));
    CHECK(says(refusal(R"({"predicted_n": 101})"), "predicted_ms or predicted_per_second"));
}

}  // namespace headings_and_commands_test
