// Times of several files at one load: what each weighs, and what is said where they differ. Expected values are arithmetic.
#include <catch2/catch.hpp>

#include "runs/own_file.h"
#include "typed_run.h"

#include <nlohmann/json.hpp>

namespace weights_of_times_test {

using namespace treeline;
using namespace treeline::testing::typed;

TEST_CASE("a measurement of which nothing says how much it weighs counts as another of the same requests") {
    runs::MeasuredMean counted, plain;
    counted.add(10.0, 1000.0);
    counted.add(10.0, 3000.0);
    plain.add(40.0);
    runs::MeasuredMean sum = counted, other = plain;
    sum.add(plain);  // as one of 2000
    other.add(counted);
    CHECK(sum.mean() == Approx((10.0 * 4000.0 + 40.0 * 2000.0) / 6000.0));
    CHECK(other.mean() == Approx(sum.mean()));
    CHECK(sum.is_counted());
    plain.add(20.0);
    CHECK(plain.mean() == Approx(30.0));
    CHECK_FALSE(plain.is_counted());
    runs::MeasuredMean none;
    none.add(5.0, 0.0);
    CHECK_FALSE(none.is_counted());
    CHECK(none.mean() == 5.0);
}

TEST_CASE("a log and a benchmark weigh by the same counts, and their disagreement is said") {
    const std::string benchmark =
        R"({"backend": "vllm", "model_id": "m", "max_concurrency": 8, "completed": 100, "total_output_tokens": 25600, )"
        R"("output_throughput": 491.4, "mean_tpot_ms": 15.9, "mean_itl_ms": 35.5, "median_itl_ms": 35.5, )"
        R"("spec_decode_num_drafts": 11200, "spec_decode_draft_tokens": 33600, "spec_decode_accepted_tokens": 14400, )"
        R"("spec_decode_per_position_acceptance_rates": [0.65, 0.40, 0.235714]})";
    std::string log;
    for (int interval = 0; interval < 3; ++interval) {
        log +=
            "INFO 11-20 10:00:11 [loggers.py:127] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: "
            "800.0 tokens/s, Running: 8 reqs, Waiting: 0 reqs\n"
            "INFO 11-20 10:00:11 [metrics.py:96] SpecDecoding metrics: Mean acceptance length: 2.40, Accepted: 4732 tokens, "
            "Drafted: 10140 tokens, Per-position acceptance rate: 0.700, 0.450, 0.250, Avg Draft acceptance rate: 46.7%\n";
    }
    const runs::MeasuredRun both =
        runs::joined({runs::import_run_text(benchmark, "bench.json"), runs::import_run_text(log, "server.log")});
    REQUIRE(both.cells.size() == 2);
    const runs::RunCell& cell = both.cells.back();
    // The benchmark's rounds are its tokens over its accept length; two intervals of the log have 3380 rounds of 24 ms.
    const double length = 1.0 + 14400.0 / 11200.0, rounds = 25600.0 / length, logged = 8.0 * (1.0 + 4732.0 / 3380.0) / 800.0;
    CHECK(cell.round.mean() == Approx((rounds * 0.0355 + 2.0 * 3380.0 * logged) / (rounds + 2.0 * 3380.0)));
    CHECK(
        says(remarks_of(both), "server.log: with 3 draft tokens at batch 8 a round takes 24 ms, where 35.5 were read before"));
}

TEST_CASE("a file of a run keeps what is known of weights") {
    const runs::MeasuredRun table = read("concurrency,k,tpot\n1,0,16\n1,3,9\n");
    const auto json = runs::run_json(table);
    CHECK_FALSE(json["cells"][0]["tpot_ms"].contains("weight"));
    CHECK_FALSE(read(json.dump()).cells.front().tpot.is_counted());
    const runs::MeasuredRun counted =
        read(R"({"completed": 8, "model_id": "m", "total_output_tokens": 800, "mean_tpot_ms": 16})");
    CHECK(read(runs::run_json(counted).dump()).cells.front().tpot.weight() == 800.0);
}

}  // namespace weights_of_times_test
