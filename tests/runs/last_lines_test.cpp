// The last line of a file, which no line feed may end, and a first interval that is damaged. Texts are our own.
#include <catch2/catch.hpp>

#include "imported_run.h"
#include "typed_run.h"

namespace last_lines_test {

using namespace treeline;
using namespace treeline::testing::typed;

namespace {

const std::string incomplete = "its last line is not complete and was left out";

/// A log of vLLM with as many intervals as counts of drafted tokens.
std::string log_of(const std::vector<int>& drafted) {
    std::string log;
    for (const int count : drafted) {
        log +=
            "INFO 11-20 10:00:11 [loggers.py:127] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: "
            "811.0 tokens/s, Running: 8 reqs, Waiting: 0 reqs, GPU KV cache usage: 3.1%\n"
            "INFO 11-20 10:00:11 [metrics.py:96] SpecDecoding metrics: Mean acceptance length: 2.40, Accepted: 4732 tokens, "
            "Drafted: " +
            std::to_string(count) +
            " tokens, Per-position acceptance rate: 0.700, 0.450, 0.250, Avg Draft acceptance rate: 46.7%\n";
    }
    return log;
}

}  // namespace

TEST_CASE("a last line without a line feed counts where nothing of it is missing") {
    CHECK(cells_of(read("K=3: 2000 tok/s, no spec: 1000 tok/s")) == "1/0/0: 1000, 1/3/0: 500");
    CHECK(cells_of(read("K=3: 2000 tok/s, no spec: 1000")) == "1/0/0: 1000, 1/3/0: 500");
    for (const char* table : {"| k | tok/s |\n|---|---|\n| 0 | 100 |\n| 3 | 200 |", "k,tok/s\n0,100\n3,200",
                              "k\ttok/s\n0\t100\n3\t200", "k | tok/s\n-- | --\n0 | 100\n3 | 200"}) {
        INFO(table);
        const runs::MeasuredRun run = read(table);
        CHECK(cells_of(run) == "1/0/0: 10000, 1/3/0: 5000");
        CHECK_FALSE(says(remarks_of(run), incomplete));
    }
    std::string log = log_of({10140, 10140, 10140});
    const double drafts = read(log).acceptance().drafts;
    log.pop_back();
    CHECK(read(log).acceptance().drafts == drafts);
    CHECK_FALSE(says(remarks_of(read(log)), incomplete));
}

TEST_CASE("a last line that its own form shows to be cut off is left out") {
    for (const char* table : {"| k | AL | tok/s |\n|---|---|---|\n| 0 | | 100 |\n| 2 | 2.1 | 200 |\n| 3 | 2.4 | 2",
                              "| k | AL | tok/s |\n|---|---|---|\n| 0 | | 100 |\n| 2 | 2.1 | 200 |\n| 3 | 2.4 |",
                              "k,AL,tok/s\n0,,100\n2,2.1,200\n3,2.", "k,AL,tok/s\n0,,100\n2,2.1,200\n3"}) {
        INFO(table);
        const runs::MeasuredRun run = read(table);
        CHECK(cells_of(run) == "1/0/0: 10000, 1/2/0: 5000");
        CHECK(says(remarks_of(run), incomplete));
    }
    const std::string log = log_of({10140, 10140, 10140, 10140});
    const double three = read(log_of({10140, 10140, 10140})).acceptance().drafts;
    for (const char* end : {"Drafted: 101", "Mean acceptance length: 2.40, Acc"}) {
        INFO(end);
        const std::string::size_type at = log.rfind(std::string(end).substr(0, 8));
        const runs::MeasuredRun run = read(log.substr(0, at) + end);
        CHECK(run.acceptance().drafts == three);
        CHECK(says(remarks_of(run), incomplete));
    }
    const std::string scrape = "vllm:spec_decode_num_drafts_total 1000\nvllm:spec_decode_num_draft_tokens_total 3000\n";
    CHECK(says(refusal(scrape + "vllm:spec_decode_num_accepted_tokens_total 15"), incomplete) ==
          says(refusal(scrape), incomplete));
}

TEST_CASE("a first interval that is damaged is left out as a later one is") {
    const runs::MeasuredRun run = read(log_of({1014, 10140, 10140, 10140}));
    CHECK(says(remarks_of(run), "line 2: counts 4732 accepted tokens, but only 1014 were drafted"));
    CHECK(run.acceptance().drafts == 3 * 3380);
    CHECK(run.cells.size() == 1);  // nothing is left of the load of the first
    const runs::MeasuredRun later = read(log_of({10140, 10140, 1014, 10140}));
    CHECK(says(remarks_of(later), "line 6: counts"));
    CHECK(later.acceptance().drafts == run.acceptance().drafts);
}

}  // namespace last_lines_test
