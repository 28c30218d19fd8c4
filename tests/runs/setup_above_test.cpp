// Is a set-up that stands once above all numbers theirs, and no longer where another begins? The numbers are made up.
#include <catch2/catch.hpp>

#include "typed_run.h"

namespace setup_above_test {

using namespace treeline;
using namespace treeline::testing::typed;

TEST_CASE("a title between a set-up and its numbers does not end it") {
    // 1/95 s and 4/300 s a token.
    const std::string table = "\n\n| Concurrency | tok/s |\n|---|---|\n| 1 | 95 |\n| 4 | 300 |\n";
    for (const char* title : {"## Results", "**Results**", "Results:", "Measured on the wire"}) {
        CHECK(cells_of(read(std::string("EAGLE3, num_speculative_tokens=3\n\n") + title + table)) ==
              "1/3/0: 10526, 4/3/0: 13333");
    }
    CHECK(cells_of(read("## Setup\nk=3\n\n## Results" + table)) == "1/3/0: 10526, 4/3/0: 13333");
    CHECK(cells_of(read("MTP speculative decoding with 3 draft tokens\n\n**Measured**\n95 tokens/s\n")) == "1/3/0: 10526");
}

TEST_CASE("a set-up above is none of numbers that another line tells of") {
    const std::string table = "\n\n| Concurrency | tok/s |\n|---|---|\n| 1 | 95 |\n";
    const std::string setup = "MTP with 3 draft tokens\n\n";
    CHECK(cells_of(read(setup + "Baseline\n\nResults:" + table)) == "1/0/0: 10526");
    CHECK(cells_of(read(setup + "DFlash\n\nResults:" + table)) == "1/0/0: 10526");
    CHECK(cells_of(read("I compare K=3 and K=5\n\nResults:" + table)) == "1/0/0: 10526");
    // What stands right below its set-up keeps it from what follows.
    CHECK(cells_of(read(setup + "| ctx | tok/s |\n|---|---|\n| 1000 | 80 |\n\nAnother day:" + table)) ==
          "1/0/0: 10526, 1/3/1000: 12500");
    CHECK(cells_of(read(setup + "Results:\n\n| Mode | tok/s |\n|---|---|\n| off | 50 |\n| MTP | 80 |\n")) ==
          "1/0/0: 20000, 1/3/0: 12500");
}

TEST_CASE("a listed setting above a table of metrics is its own") {
    const std::string table = "\n\n| Metric | Value |\n|---|---|\n| Mean TPOT (ms) | 6.5 |\n";
    CHECK(cells_of(read("- num_speculative_tokens: 2" + table)) == "0/2/0: 6500");
    CHECK(cells_of(read("num_speculative_tokens: 2\n\n## Results" + table)) == "0/2/0: 6500");
    CHECK(cells_of(read("Draft tokens: 45" + table)) == "0/0/0: 6500");
    CHECK(cells_of(read("- Prefix caching: off" + table)) == "0/0/0: 6500");
}

}  // namespace setup_above_test
