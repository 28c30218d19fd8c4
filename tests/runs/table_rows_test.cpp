// Which rows of a table of loads are measurements of decoding? The numbers are made up.
#include <catch2/catch.hpp>

#include "typed_run.h"

namespace table_rows_test {

using namespace treeline;
using namespace treeline::testing::typed;

TEST_CASE("rows of acceptance, memory and first tokens are no rates") {
    const std::string head = "| Setting | Value |\n|---|---|\n| Baseline decode | 20 tok/s |\n| K=3 decode | 25 tok/s |\n";
    const runs::MeasuredRun run = read(head + "| K=3 acceptance | 60% |\n| VRAM | 22.3 GB |\n| TTFT | 0.5 s |\n");
    CHECK(cells_of(run) == "1/0/0: 50000, 1/3/0: 40000");
    CHECK(run.cells.back().stated_length == Approx(2.8));
    CHECK(says(remarks_of(run), "\"VRAM\" is of no decoding"));
    const runs::MeasuredRun unnamed =
        read("| Config | Speed |\n|---|---|\n| No MTP | 20 t/s |\n| MTP n-max 8 | 25 t/s |\n| Acceptance | 0.87 (87/100) |\n");
    CHECK(cells_of(unnamed) == "1/0/0: 50000, 1/8/0: 40000");
    CHECK(unnamed.cells.back().stated_length == 0.0);
}

TEST_CASE("a cell with another unit is no rate") {
    const runs::MeasuredRun run = read(
        "| Config | tok/s |\n|---|---|\n| Baseline | 20 t/s |\n| MTP k=3 | 25 t/s |\n| MTP k=3 weights | 22.3 GB |\n"
        "| MTP k=3 kept | 61% |\n| MTP k=3 over plain | 1.25x |\n| MTP k=3 start | 0.5 s |\n");
    CHECK(cells_of(run) == "1/0/0: 50000, 1/3/0: 40000");
    CHECK(says(remarks_of(run), "\"22.3 GB\""));
}

TEST_CASE("the reading of prompts is no decoding") {
    const std::string columns = "| MTP OFF | MTP ON |\n|---|---|---|\n";
    const std::string prompts = "Prefill (tok/s)\n\n| size " + columns + "| 1K | 400 | 300 |\n",
                      answers = "\nDecode (tok/s)\n\n| size " + columns + "| short | 20 | 25 |\n";
    CHECK(cells_of(read(prompts + answers, 3)) == "1/0/0: 50000, 1/3/0: 40000");
    CHECK(cells_of(read("K=3, tok/s\n\n| what " + columns + "| pp128 | 400 | 300 |\n| tg128 | 20 | 25 |\n")) ==
          "1/0/0: 50000, 1/3/0: 40000");
    CHECK(says(refusal(prompts, 3), "reading of prompts"));
}

TEST_CASE("the accept length of averaged rows is their mean") {
    const runs::MeasuredRun run = read(
        "| task | K | tok/s | accept length |\n|---|---|---|---|\n| code | 3 | 100 | 3.4 |\n| chat | 3 | 80 | 3.0 |\n"
        "| story | 3 | 60 | 2.0 |\n");
    REQUIRE(run.cells.size() == 1);
    CHECK(run.cells.front().stated_length == Approx(2.8));
    const std::string batches =
        "| batch size | latency (s) | input throughput (tok/s) | output throughput (tok/s) | acc length "
        "|\n|---|---|---|---|---|\n";
    CHECK(read(batches + "| 1 | 1 | 10 | 100 | 3.0 |\n| 1 | 1 | 10 | 120 | 2.0 |\n", 3).cells.front().stated_length ==
          Approx(2.5));
}

TEST_CASE("n beside rates of all and of each stream counts streams") {
    CHECK(cells_of(read("| n | agg tok/s | per-stream tok/s | τ (per stream) |\n|---|---|---|---|\n| 1 | 80 | 80 | 3.8 |\n"
                        "| 4 | 100 | 25 | 2.9 |\n",
                        3)) == "1/3/0: 12500, 4/3/0: 40000");
    CHECK(cells_of(read("| n | tok/s |\n|---|---|\n| 0 | 50 |\n| 4 | 100 |\n")) == "1/0/0: 20000, 1/4/0: 10000");
}

TEST_CASE("signs of multiplication before a load are none of its number") {
    for (const char* sign : {"x", "×", ""}) {
        INFO(sign);
        CHECK(cells_of(read(fmt::format("| Concurrency | tok/s |\n|---|---|\n| {0}1 | 40 |\n| {0}4 | 100 |\n", sign))) ==
              "1/0/0: 25000, 4/0/0: 40000");
    }
    CHECK(says(refusal("| Concurrency | tok/s |\n|---|---|\n| low | 40 |\n| high | 100 |\n"), "\"low\""));
}

TEST_CASE("a depth of few tokens beside acceptance is a draft length") {
    CHECK(cells_of(read(
              "| depth | accept len | tok/s |\n|---|---|---|\n| 0 | 1.000 | 50 |\n| 1 | 1.8 | 80 |\n| 3 | 2.8 | 100 |\n")) ==
          "1/0/0: 20000, 1/1/0: 12500, 1/3/0: 10000");
    CHECK(cells_of(read("| depth | tok/s |\n|---|---|\n| 0 | 50 |\n| 4096 | 40 |\n")) == "1/0/1: 20000, 1/0/4096: 25000");
    const std::string settings =
        "| Config | Throughput | Accept |\n|---|---|---|\n| No MTP | 25 t/s | - |\n| d=1 | 40 t/s | 86% |\n| d=3 | 50 t/s | "
        "60% |\n";
    const runs::MeasuredRun run = read(settings);
    CHECK(cells_of(run) == "1/0/0: 40000, 1/1/0: 25000, 1/3/0: 20000");
    CHECK(run.cells.back().stated_length == Approx(2.8));
}

}  // namespace table_rows_test
