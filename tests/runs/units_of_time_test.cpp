// Units of time in headings, keys, cells, labels and sentences. Texts are our own, expected values arithmetic on them.
#include <catch2/catch.hpp>

#include "runs/formats/time_units.h"
#include "typed_run.h"

namespace units_of_time_test {

using namespace treeline;
using namespace treeline::testing::typed;

TEST_CASE("one rule for units of time in headings, keys and cells") {
    const std::string expected = "1/0/0: 16000, 1/3/0: 8750";
    const auto csv = [](const std::string& heading, const std::string& plain, const std::string& drafts) {
        return "concurrency,k," + heading + ",AL\n1,0," + plain + ",\n1,3," + drafts + ",2.4\n";
    };
    for (const char* heading : {"tpot_us", "TPOT (us)", "tpot [us]", "mean_tpot_us", "TPOT (\u00B5s)", "TPOT (\u03BCs)",
                                "us/tok", "tpot_microseconds", "us per output token"}) {
        INFO(heading);
        CHECK(cells_of(read(csv(heading, "16000", "8750"))) == expected);
    }
    for (const char* heading : {"tpot_s", "TPOT (sec)", "tpot_seconds", "TPOT (seconds)", "s/token", "mean TPOT s"}) {
        INFO(heading);
        CHECK(cells_of(read(csv(heading, "0.016", "0.00875"))) == expected);
    }
    for (const char* heading : {"tpot", "TPOT (ms)", "tpot_ms", "ms/tok", "tpot_ms_mean"}) {
        INFO(heading);
        CHECK(cells_of(read(csv(heading, "16", "8.75"))) == expected);
    }
    CHECK(cells_of(read(csv("tpot_ns", "16000000", "8750000"))) == expected);
    CHECK(cells_of(read(csv("TPOT (minutes)", "0.000266667", "0.000145833"))) == expected);
    // A cell beats its heading.
    CHECK(cells_of(read(csv("tpot", "16000us", "8750 \u00B5s"))) == expected);
    CHECK(cells_of(read(csv("TPOT (ms)", "0.016 s", "8.75"))) == expected);
    CHECK(cells_of(read(R"({"concurrency": 1, "k": 3, "tpot_us": 8750, "AL": 2.4})")) == "1/3/0: 8750");
    CHECK(cells_of(read(R"({"concurrency": 1, "k": 3, "tpot_seconds": 0.00875, "AL": 2.4})")) == "1/3/0: 8750");
    // The unit of one column, or of the lines above, is that of others without one.
    CHECK(cells_of(read("Times per token in us, concurrency 1\n\n| AR | MTP k=3 |\n|---|---|\n| 16000 | 8750 |\n")) ==
          expected);
    CHECK(cells_of(read("| AR (us/tok) | MTP k=3 |\n|---|---|\n| 16000 | 8750 |\n")) == expected);
}

TEST_CASE("first tokens have units by the same rule, and rates none") {
    for (const char* text : {"concurrency,k,tpot,TTFT us\n1,3,8.75,80000\n", "concurrency,k,tpot,ttft_us\n1,3,8.75,80000\n",
                             "concurrency,k,tpot,ttft_seconds\n1,3,8.75,0.08\n", "concurrency,k,tpot,TTFT\n1,3,8.75,80ms\n"}) {
        INFO(text);
        CHECK(read(text).cells.front().ttft.mean() == Approx(0.08));
    }
    using runs::run_formats_of::unit_in_words;
    CHECK_FALSE(unit_in_words("tok s").named());
    CHECK_FALSE(unit_in_words("output tokens per second").named());
    CHECK_FALSE(unit_in_words("mtp s tpot k 3").named());  // "MTP's TPOT"
    CHECK(unit_in_words("time per output token s").seconds == 1.0);
    CHECK(cells_of(read("| k | tokens/sec |\n|---|---|\n| 0 | 62.5 |\n| 3 | 125 |\n")) == "1/0/0: 16000, 1/3/0: 8000");
}

TEST_CASE("a unit that is not known is refused by its name") {
    CHECK(says(refusal("concurrency,k,TPOT (ks),AL\n1,3,16,2.4\n"), "the unit \"ks\" (\"TPOT (ks)\")"));
    CHECK(says(refusal("concurrency,k,TPOT (xs),AL\n1,3,16,2.4\n"), "the unit \"xs\""));
    CHECK(says(refusal("concurrency,k,tpot_hours,AL\n1,3,16,2.4\n"), "the unit \"hours\""));
    CHECK(says(refusal("concurrency,k,tpot,AL\n1,3,16xs,2.4\n"), "the unit \"xs\""));
    CHECK(says(refusal(R"({"concurrency": 1, "k": 3, "tpot_ps": 16, "AL": 2.4})"), "the unit \"ps\""));
    CHECK(says(refusal(R"({"completed": 8, "model_id": "m", "total_output_tokens": 800, "mean_tpot_cycles": 16})"),
               "the unit \"cycles\" (mean_tpot_cycles)"));
}

TEST_CASE("results of serving benchmarks have their times in the unit of the key or the label") {
    const auto result = [](const std::string& times) {
        return R"({"completed": 8, "model_id": "m", "max_concurrency": 4, "total_output_tokens": 800, )" + times + "}";
    };
    for (const char* times : {R"("mean_tpot_ms": 16)", R"("mean_tpot_us": 16000)", R"("mean_tpot": 0.016)",
                              R"("mean_tpot_seconds": 0.016)", R"("mean_tpot_s": 0.016)"}) {
        INFO(times);
        CHECK(cells_of(read(result(times))) == "4/0/50: 16000");
    }
    const auto table = [](const std::string& label, const std::string& plain, const std::string& drafts) {
        return "Concurrency 4\n\n| Metric | MTP=off | MTP k=3 |\n|---|---|---|\n| " + label + " | " + plain + " | " + drafts +
               " |\n";
    };
    const std::string expected = "4/0/0: 16000, 4/3/0: 8750";
    CHECK(cells_of(read(table("Mean TPOT (us)", "16000", "8750"))) == expected);
    CHECK(cells_of(read(table("TPOT p50 (s)", "0.016", "0.00875"))) == expected);
    CHECK(cells_of(read(table("Mean TPOT", "16 ms", "8750 us"))) == expected);
    CHECK(says(refusal(table("Mean TPOT (ks)", "16", "8.75")), "the unit \"ks\""));
}

TEST_CASE("sentences give times per token in any unit") {
    CHECK(cells_of(read("K=3: 8750 us/token, no spec: 16000 us/token\n")) == "1/0/0: 16000, 1/3/0: 8750");
    CHECK(cells_of(read("K=3: 8750 \u00B5s/tok, no spec: 16 ms per token\n")) == "1/0/0: 16000, 1/3/0: 8750");
    CHECK(cells_of(read("K=3: TPOT 0.00875 s, no spec: TPOT 0.016 s\n")) == "1/0/0: 16000, 1/3/0: 8750");
}

}  // namespace units_of_time_test
