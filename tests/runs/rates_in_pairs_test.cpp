// Of two rates with an arrow or "to" between them, is the first of plain decoding where drafts are named beside them? The
// numbers are made up.
#include <catch2/catch.hpp>

#include "typed_run.h"

namespace rates_in_pairs_test {

using namespace treeline;
using namespace treeline::testing::typed;

TEST_CASE("drafts that stand beside two rates are of the second") {
    for (const char* text :
         {"MTP k=2: 40 tok/s -> 50 tok/s\n", "MTP k=2 brings decoding from 40 tok/s to 50 tok/s\n",
          "With `--speculative-config '{\"method\":\"mtp\",\"num_speculative_tokens\":2}'` I see improvements "
          "from ~40 tokens/sec to ~49-51 tokens/sec\n"}) {
        const runs::MeasuredRun run = read(text);
        CHECK(cells_of(run) == "1/0/0: 25000, 1/2/0: 20000");
        CHECK(says(remarks_of(run), "the first was taken as plain decoding"));
    }
    CHECK(cells_of(read("MTP k=2 slowed decode from 50 tok/s down to 40 tok/s\n")) == "1/0/0: 20000, 1/2/0: 25000");
    CHECK(cells_of(read("MTP improves TG here from 39-41 tok/s to ~49-51 tok/s\n", 2)) == "1/0/0: 25000, 1/2/0: 20000");
    CHECK(cells_of(read("MTP k=2: 40 -> 50 tok/s (prose), 40 -> 100 tok/s at 8k context\n")) ==
          cells_of(read("no MTP -> MTP k=2: 40 -> 50 tok/s (prose), 40 -> 100 tok/s at 8k context\n")));
}

TEST_CASE("set-ups at both sides of an arrow are those of both rates") {
    CHECK(cells_of(read("K=1 -> K=3: 40 -> 50 tok/s\n")) == "1/1/0: 25000, 1/3/0: 20000");
    CHECK(cells_of(read("no MTP -> MTP k=2: 40 -> 50 tok/s\n")) == "1/0/0: 25000, 1/2/0: 20000");
}

TEST_CASE("the first of two rates is left out where it is of something else") {
    for (const char* text : {"With this PR MTP k=2 goes from 40 tok/s to 50 tok/s\n",
                             "You ran MTP with n=2, so I did. It went from 40 tok/s to 50 tok/s\n"}) {
        const runs::MeasuredRun run = read(text);
        CHECK(cells_of(run) == "1/2/0: 20000");
        CHECK(says(remarks_of(run), "the first was left out"));
    }
}

TEST_CASE("streams, users and clients are loads") {
    // 8 of 160 tok/s and 32 of 320 tok/s in all.
    const std::string rows =
        "| MTP k=3, single stream | 50 tok/s |\n| MTP k=3, 8 {0} | 160 tok/s aggregate |\n"
        "| MTP k=3, 32 {0} | 320 tok/s aggregate |\n";
    for (const char* noun : {"streams", "users", "clients"}) {
        CHECK(cells_of(read("| Config | Decode |\n|---|---|\n" + fmt::format(fmt::runtime(rows), noun))) ==
              "1/3/0: 20000, 8/3/0: 50000, 32/3/0: 100000");
    }
    CHECK(cells_of(read("| Config | Decode |\n|---|---|\n| MTP k=3 (5 slots) | 50 tok/s |\n")) == "1/3/0: 20000");
}

TEST_CASE("statistics of drafts as trtllm-bench printed them until mid-2025") {
    const std::string report =
        "= PERFORMANCE OVERVIEW\nTotal Output Throughput (tokens/sec):  200.0\n"
        "Average time-per-output-token [TPOT] (ms):  5.0\n= DECODING STATISTICS (Eagle)\n\n";
    const std::string rates = "[AR] MINIMUM: 1.70\n[AR] MAXIMUM: 1.90\n[AR] AVERAGE: 1.80\n";
    CHECK(says(refusal(report + rates), "--draft-tokens K"));
    CHECK(says(refusal(report), "--draft-tokens K"));
    const runs::MeasuredRun run = read(report + rates, 3);
    CHECK(cells_of(run) == "0/3/0: 5000");
    CHECK(run.cells.front().stated_length == Approx(1.8));
    CHECK(cells_of(read("speculative_config:\n  decoding_type: Eagle\n  max_draft_len: 3\n\n" + report + rates)) ==
          "0/3/0: 5000");
}

}  // namespace rates_in_pairs_test
