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

}  // namespace engine_logs_test
