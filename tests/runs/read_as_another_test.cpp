// What was once read as something else: counts as lengths, the name of a script as a set-up, one model's rates as another's.
// The numbers are made up.
#include <catch2/catch.hpp>

#include "typed_run.h"

namespace read_as_another_test {

using namespace treeline;
using namespace treeline::testing::typed;

TEST_CASE("accepted tokens behind drafted ones are no draft length") {
    const std::string rates = "- MTP enabled ran at 20 tok/s, spec disabled ran at 10 tok/s\n";
    for (const char* counts : {"- 10 draft tokens, 3 accepted.\n", "- MTP, 10 draft tokens, 5 accepted.\n"}) {
        CHECK(says(refusal(counts + rates), "--draft-tokens K"));
        CHECK(cells_of(read(counts + rates, 2)) == "1/0/0: 100000, 1/2/0: 50000");
    }
    CHECK(cells_of(read("- 3 draft tokens\n" + rates)) == "1/0/0: 100000, 1/3/0: 50000");
}

TEST_CASE("a script's name is no set-up") {
    const auto progress = [](int rate) {
        return fmt::format(
            "Processed prompts: 100%|#| 10/10 [00:33<00:00, 3.35s/it, est. speed input: 40.00 toks/s, output: {}.00 "
            "toks/s]\n\n",
            rate);
    };
    const std::string plain = "python benchmark_speculative.py\n" + progress(300),
                      drafts = "python benchmark_speculative.py --with_speculation True\n" + progress(100);
    CHECK(says(refusal(plain + drafts), "line 5"));
    for (const std::string& text : {plain + drafts, drafts + plain}) {
        const runs::MeasuredRun run = read(text, 3);
        REQUIRE(run.cells.size() == 2);
        for (const runs::RunCell& cell : run.cells) {
            CHECK(cell.tokens_per_second.mean() == Approx(cell.draft_tokens == 0 ? 300.0 : 100.0));
        }
    }
}

TEST_CASE("regular decoding is plain, and another model's is left out") {
    CHECK(cells_of(read("q8_0 regular ~10 t/s, with MTP 20 t/s\n", 3)) == "1/0/0: 100000, 1/3/0: 50000");
    const std::string two =
        "On the 35b-a3b:\n- 50 t/s without MTP\n\nFor the 27b I do see more.\n- regular ~10 t/s, 20 t/s with MTP\n";
    const runs::MeasuredRun run = read(two + "\nOn the 35b-a3b again:\n- 80 t/s with MTP\n", 3);
    CHECK(cells_of(run) == "1/0/0: 20000, 1/3/0: 12500");
    CHECK(says(remarks_of(run), "27b"));
    CHECK(cells_of(read("On the 8b:\n- 50 t/s without MTP\n\nMTP (`some/mtp-head-1b`):\n- 80 t/s with MTP\n", 3)) ==
          "1/0/0: 20000, 1/3/0: 12500");
}

TEST_CASE("a table that names its model is not averaged with one that names none") {
    const std::string named = "| Model | MTP off | MTP k=3 |\n|---|---|---|\n| 35B-A3B | 50 tok/s | 100 tok/s |\n",
                      unnamed = "| Configuration | Speed |\n|---|---|\n| MTP off | 10 tok/s |\n| MTP k=3 | 10 tok/s |\n";
    const runs::MeasuredRun first = read(named + "\n" + unnamed), second = read(unnamed + "\n" + named);
    CHECK(cells_of(first) == "1/0/0: 20000, 1/3/0: 10000");
    CHECK(cells_of(second) == "1/0/0: 100000, 1/3/0: 100000");
    CHECK(says(remarks_of(first), "does not say of which model"));
    CHECK(says(remarks_of(second), "does not say of which model"));
    // Other loads than those of the first table are of no two models.
    CHECK(cells_of(read(named + "\n| Configuration | Speed |\n|---|---|\n| MTP k=2 | 80 tok/s |\n")) ==
          "1/0/0: 20000, 1/2/0: 12500, 1/3/0: 10000");
}

}  // namespace read_as_another_test
