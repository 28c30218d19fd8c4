// Logs of engines and reports of scripts whose lines mean more or less than they seem to: sums since a start, intervals in
// which requests came, timings of one of two models, reports under captions. Expected values are arithmetic on the figures.
#include <catch2/catch.hpp>

#include "typed_run.h"

namespace engine_logs_test {

using namespace treeline;
using namespace treeline::testing::typed;

TEST_CASE("counters of vLLM V0 are sums since its start, and its lines give differences") {
    const auto line = [](int accepted, int drafted, const std::string& tokens = "tokens") {
        return fmt::format(
            "INFO 09-10 10:00:00 metrics.py:477] Speculative metrics: Draft acceptance rate: 0.500, System "
            "efficiency: 0.480, Number of speculative tokens: 5, Number of accepted tokens: {}, Number of draft "
            "{}: {}, Number of emitted {}: 7.\n",
            accepted, tokens, drafted, tokens);
    };
    const runs::MeasuredRun two = read(line(900, 1000) + line(1000, 2000));
    CHECK(two.acceptance(5).drafts == 400);
    CHECK(two.acceptance(5).accept_length() == Approx(3.5));
    // A server that starts anew counts from 0; the same sums again are no rounds.
    const runs::MeasuredRun again = read(line(900, 1000) + line(900, 1000) + line(10, 50));
    CHECK(again.acceptance(5).drafts == 210);
    CHECK(again.acceptance(5).accepted == 910);
    // Version 0.5 repeats a word.
    CHECK(read(line(0, 100, "tokens tokens") + line(20, 150, "tokens tokens")).acceptance(5).drafts == 30);
}

TEST_CASE("throughput of SGLang's lines counts where no prompt was read and no request waited for") {
    const auto line = [](double rate) {
        return fmt::format(
            "[2025-10-22 10:27:57 TP0] Decode batch. #running-req: 1, #token: 100, token usage: 0.00, accept len: "
            "2.00, accept rate: 0.50, cuda graph: True, gen throughput (token/s): {}, #queue-req: 0,\n",
            rate);
    };
    const runs::MeasuredRun run =
        read("[2025-10-22 10:27:56 TP0] Prefill batch. #new-seq: 1, #new-token: 28, #running-req: 0,\n" + line(0.39) +
                 line(170) + line(190),
             3);
    REQUIRE(run.cells.size() == 1);
    CHECK(run.cells[0].tokens_per_second.mean() == Approx(180));
    CHECK(run.cells[0].accept_length() == Approx(2.0));
}

}  // namespace engine_logs_test
