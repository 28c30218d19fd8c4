// Tables with an engine, a back end or a device in each column. The forms are those of public threads; the numbers are made
// up, and expected values are arithmetic on them: 20 tokens/s are 50 ms, 40 are 25 ms.
#include <catch2/catch.hpp>

#include "runs/formats/side_columns.h"
#include "typed_run.h"

namespace side_columns_test {

using namespace treeline;
using namespace treeline::testing::typed;
using runs::run_formats_of::SideColumns;
using Cells = std::vector<std::string>;

namespace {

/// "variant: batch/drafts: microseconds" of loads that are kept apart.
std::string apart(const runs::MeasuredRun& run) {
    std::string text;
    for (const runs::RunCell& cell : run.elsewhere) {
        text += fmt::format("{}{}: {:g}/{}: {}", text.empty() ? "" : ", ", cell.variant, cell.batch, cell.draft_tokens,
                            std::lround(cell.tpot_seconds() * 1e6));
    }
    return text;
}

}  // namespace

TEST_CASE("back ends in columns are deployments of their own") {
    const std::string rows = "|---|---|---|\n| baseline | 20 | 10 |\n| MTP n=3 | 40 | 12.5 |\n";
    for (const std::string heading : {"| Config | CUDA t/s | Vulkan t/s |\n", "| | CUDA (tok/s) | Vulkan (tok/s) |\n",
                                      "decode tok/s, batch 1\n\n| Config | CUDA | Vulkan (RADV) |\n"}) {
        const runs::MeasuredRun run = read(heading + rows);
        CHECK(cells_of(run) == "1/0/0: 50000, 1/3/0: 25000");
        CHECK(apart(run) == "vulkan: 1/0: 100000, vulkan: 1/3: 80000");
        CHECK(says(remarks_of(run), "rows of vulkan are kept apart from those of cuda"));
    }
    const runs::MeasuredRun counts =
        read("| n-max | Metal (t/s) | CPU (t/s) |\n|---|---|---|\n| off | 20 | 5 |\n| 2 | 40 | - |\n");
    CHECK(cells_of(counts) == "1/0/0: 50000, 1/2/0: 25000");
    CHECK(apart(counts) == "cpu: 1/0: 200000");
}

TEST_CASE("contexts in columns are loads") {
    const std::string in_rows =
        "tok/s, MTP k=2\n\n| concurrency | ctx 0 | ctx 16k |\n|---|---|---|\n| 1 | 40 | 20 |\n| 2 | 80 | - |\n";
    const std::string in_columns =
        "tok/s, MTP k=2\n\n| ctx \\ conc | 1 | 2 |\n|---|---|---|\n| 0 | 40 | 80 |\n| 16k | 20 | - |\n";
    for (const std::string& table : {in_rows, in_columns}) {
        CHECK(cells_of(read(table)) == "1/2/1: 25000, 2/2/1: 25000, 1/2/16384: 50000");
    }
    CHECK(cells_of(read("| k | TPOT ms @ 1k | TPOT ms @ 8k |\n|---|---|---|\n| 0 | 50 | 55 |\n| 3 | 25 | 30 |\n")) ==
          "1/0/1024: 50000, 1/0/8192: 55000, 1/3/1024: 25000, 1/3/8192: 30000");
}

TEST_CASE("of engines in columns the first is read, and the others are named") {
    const runs::MeasuredRun plain =
        read("tokens/s\n\n| Setup | vLLM | SGLang |\n|---|---|---|\n| no spec | 20 | 22 |\n| K=3 | 40 | 44 |\n");
    CHECK(cells_of(plain) == "1/0/0: 50000, 1/3/0: 25000");
    CHECK(says(remarks_of(plain), "rows of SGLang beside those of vLLM were left out"));
    const runs::MeasuredRun both = read(
        "| Concurrency | vLLM plain | vLLM MTP k=3 | SGLang plain | SGLang MTP k=3 |\n|---|---|---|---|---|\n"
        "| 1 | 20 tok/s | 40 tok/s | 22 tok/s | 44 tok/s |\n");
    CHECK(cells_of(both) == "1/0/0: 50000, 1/3/0: 25000");
    CHECK(says(remarks_of(both), "rows of SGLang"));
}

TEST_CASE("devices in columns, and columns that all sides share") {
    const runs::MeasuredRun run = read(
        "| K | RTX 4090 tok/s | RTX 5090 tok/s | accept length |\n|---|---|---|---|\n| 0 | 20 | 40 | - |\n| 2 | 40 | 80 | 2.4 "
        "|\n");
    CHECK(cells_of(run) == "1/0/0: 50000, 1/2/0: 25000");
    CHECK(run.cells.back().stated_length == Approx(2.4));
    CHECK(apart(run) == "device 5090: 1/0: 25000, device 5090: 1/2: 12500");
}

TEST_CASE("columns that are no two sides of the same stay as they are") {
    for (const Cells& headings :
         {Cells{"K", "tok/s", "accept"}, Cells{"K", "CUDA t/s"}, Cells{"CUDA", "Vulkan"},
          Cells{"K", "CUDA plain", "CUDA MTP", "Vulkan MTP"}, Cells{"K", "CUDA graphs t/s", "eager t/s"},
          Cells{"K", "CUDA t/s", "CUDA speedup over Vulkan"}}) {
        const SideColumns sides(headings);
        CHECK(sides.headings() == headings);
        CHECK(sides.rows(headings) == std::vector<Cells>{headings});
    }
}

}  // namespace side_columns_test
