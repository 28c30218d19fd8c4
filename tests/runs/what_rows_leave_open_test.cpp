// Acceptance in short forms, drafts of several methods, rows of other engines, rates of one request each. The numbers are made
// up.
#include <catch2/catch.hpp>

#include "typed_run.h"

namespace what_rows_leave_open_test {

using namespace treeline;
using namespace treeline::testing::typed;

double stated_length(const runs::MeasuredRun& run) { return run.cells.back().stated_length; }

TEST_CASE("acceptance behind \"@\" and in a short spelling") {
    const std::string table = "| Mode | Value |\n|---|---|\n| baseline | 10 t/s |\n| `--draft-max 1` | 20 t/s @ 80.0% |\n";
    CHECK(cells_of(read(table)) == "1/0/0: 100000, 1/1/0: 50000");
    CHECK(stated_length(read(table)) == Approx(1.8));
    CHECK(stated_length(read("vanilla: 10 tok/s\nk=2: 20 tok/s Accpt Len: 1.90\n")) == Approx(1.9));
    CHECK(stated_length(read("vanilla: 10 t/s\nk=1: 20 t/s @ 80%\n")) == Approx(1.8));
}

TEST_CASE("a load that the import was told is not assumed") {
    const std::string table = "| Mode | Value |\n|---|---|\n| baseline | 10 t/s |\n| `--draft-max 1` | 20 t/s |\n";
    CHECK(says(remarks_of(read(table)), "states no requests in flight; 1 is assumed"));
    runs::RunHints hints;
    hints.batch = 4.0;
    CHECK(!says(remarks_of(runs::import_run_text(table, "typed.md", hints)), "requests in flight"));
}

TEST_CASE("requests of two drafting methods are of one length") {
    // 200 tokens less the first and 100 accepted are 99 rounds of 1.8 and 2.8 drafts.
    const std::string lines =
        "code  pred= 200 draft= 178 acc= 100 rate=0.562 tok/s=10.0\nqa    pred= 200 draft= 277 acc= 100 rate=0.361 "
        "tok/s=10.0\n";
    const runs::MeasuredRun both = read("spec-type = draft-mtp,ngram-mod\nspec-draft-n-max = 2\n\n" + lines);
    REQUIRE(both.cells.size() == 1);
    CHECK(both.cells.front().draft_tokens == 3);
    CHECK(both.cells.front().acceptance.drafts == 198.0);
    CHECK(says(remarks_of(both), "draft-mtp,ngram-mod"));
    CHECK(read("spec-type = draft-mtp\n\n" + lines).cells.size() == 2);
}

TEST_CASE("rows of another engine are another deployment's") {
    const runs::MeasuredRun run = read(
        "| engine | mode | decode |\n|---|---|---|\n| MLX | plain | 50 tok/s |\n| llama.cpp | MTP k=2 | 80 tok/s |\n"
        "| MLX | MTP k=2 | 100 tok/s |\n");
    CHECK(cells_of(run) == "1/0/0: 20000, 1/2/0: 10000");
    CHECK(says(remarks_of(run), "rows of llama.cpp beside those of MLX"));
}

TEST_CASE("totals that fall as more requests run are doubted") {
    const std::string head = "| Concurrency | tok/s |\n|---|---|\n";
    CHECK(says(remarks_of(read(head + "| 2 | 30 |\n| 3 | 22 |\n| 4 | 17 |\n")), "of one request each"));
    CHECK(!says(remarks_of(read(head + "| 2 | 60 |\n| 3 | 66 |\n| 4 | 68 |\n")), "of one request each"));
    CHECK(!says(remarks_of(read("| Concurrency | tok/s per request |\n|---|---|\n| 2 | 30 |\n| 3 | 22 |\n| 4 | 17 |\n")),
                "of one request each"));
}

TEST_CASE("a gain in the cell settles the unit of rates without one") {
    const runs::MeasuredRun run = read(
        "| | Baseline | With flag | n-max | Acceptance |\n|---|---|---|---|---|\n| a | 50 | 100 (+100%) | 2 | 0.50 |\n"
        "| b | 50 | 125 (+150%) | 4 | 0.40 |\n");
    CHECK(says(cells_of(run), "1/2/0: 10000, 1/4/0: 8000"));
    CHECK(says(cells_of(run), "1/0/0: 20000"));
    CHECK(!says(cells_of(read("| | Baseline | With flag | n-max | Acceptance |\n|---|---|---|---|---|\n"
                              "| a | 50 | 100 (+20%) | 2 | 0.50 |\n")),
                "10000"));
}

TEST_CASE("SGLang's benchmarks of tasks") {
    const std::string report = "Latency: 10.000 s\nOutput throughput: 1000.000 token/s\nAccept length: ";
    CHECK(read(report + "1.000\n").cells.front().draft_tokens == 0);
    CHECK(says(refusal(report + "2.500\n"), "--draft-tokens K"));
    const std::string command = "python -m sglang.launch_server --model-path m --speculative-algorithm EAGLE3\n\n";
    CHECK(read(command + report + "1.000\n", 3).cells.front().draft_tokens == 3);
    CHECK(says(refusal(command + report + "1.000\n"), "--draft-tokens K"));
    const runs::MeasuredRun run = read(report + "2.500\n", 3);
    CHECK(run.cells.front().draft_tokens == 3);
    CHECK(run.cells.front().stated_length == Approx(2.5));
    CHECK(run.cells.front().tokens_per_second.mean() == Approx(1000.0));
}

}  // namespace what_rows_leave_open_test
