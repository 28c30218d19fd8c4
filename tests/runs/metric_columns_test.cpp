// Are the columns of a table with a metric in each row told apart by their headings? The numbers are made up.
#include <catch2/catch.hpp>

#include "typed_run.h"

namespace metric_columns_test {

using namespace treeline;
using namespace treeline::testing::typed;

namespace {

std::string table(const std::string& first, const std::string& second) {
    return "| Metric | " + first + " | " + second + " |\n|---|---|---|\n| Output token throughput (tok/s) | 100 | 150 |\n" +
           "| Mean TPOT (ms) | 40 | 26 |\n";
}

}  // namespace

TEST_CASE("a load over each column of metrics is a cell of its own") {
    for (const char* form : {"conc={}", "concurrency={}", "c={}", "BS {}", "{} users"}) {
        const runs::MeasuredRun run = read(table(fmt::format(fmt::runtime(form), 4), fmt::format(fmt::runtime(form), 8)));
        INFO(form);
        CHECK(cells_of(run) == "4/0/0: 40000, 8/0/0: 26000");
        CHECK(run.remarks.empty());
    }
    CHECK(cells_of(read(table("off, c=4", "MTP k=3, c=4"))) == "4/0/0: 40000, 4/3/0: 26000");
    CHECK(cells_of(read(table("ctx 1K", "ctx 8K"))) == "0/0/1024: 40000, 0/0/8192: 26000");
}

TEST_CASE("of columns of other deployments the first counts, and the others are named") {
    for (const auto& [first, second] :
         {std::pair{"A100", "H100"}, std::pair{"Llama 8B", "Qwen 8B"}, std::pair{"TP1", "TP2"}, std::pair{"FP8", "BF16"},
          std::pair{"v0.9.1", "v0.10.0"}, std::pair{"Before", "After"}}) {
        const runs::MeasuredRun run = read(table(first, second));
        INFO(first);
        CHECK(cells_of(run) == "0/0/0: 40000");
        CHECK(says(remarks_of(run), std::string("\"") + second + "\" was left out"));
    }
    const runs::MeasuredRun devices = read(table("H100 c=4", "A100 c=8"));
    CHECK(cells_of(devices) == "4/0/0: 40000");
    CHECK(cells_of(read(table("EAGLE3 k=3", "MTP k=2"))) == "0/3/0: 40000");
}

TEST_CASE("only columns that repeat a run are averaged") {
    const runs::MeasuredRun run = read(table("run 1", "run 2"));
    CHECK(cells_of(run) == "0/0/0: 33000");
    CHECK(says(remarks_of(run), "columns of repeated runs were averaged"));
    CHECK(cells_of(read(table("1", "2"))) == "0/0/0: 33000");
}

TEST_CASE("a heading that adds to another drafts with what it adds") {
    CHECK(says(refusal(table("W7 Q4_K_M", "W7 Q4_K_M + 1.5B Q8")), "--draft-tokens K"));
    CHECK(cells_of(read(table("W7 Q4_K_M", "W7 Q4_K_M + 1.5B Q8"), 4)) == "0/0/0: 40000, 0/4/0: 26000");
}

TEST_CASE("metrics say nothing of their engine, and rates of one device of many nothing of all") {
    CHECK(read(table("c=4", "c=8")).identity.engine.empty());
    CHECK(read("Measured with vLLM:\n\n" + table("c=4", "c=8")).identity.engine == "vllm");
    const runs::MeasuredRun run =
        read("| Metric | c=4 |\n|---|---|\n| Output tput/GPU (tok/s) | 59.7 |\n| Mean TPOT (ms) | 8 |\n");
    REQUIRE(run.cells.size() == 1);
    CHECK_FALSE(run.cells.front().tokens_per_second.known());
}

}  // namespace metric_columns_test
