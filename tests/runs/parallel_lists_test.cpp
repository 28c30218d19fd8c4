// Settings and what each reached in lists of the same order, pairs behind a speed-up, set-ups that are denied, and figures of
// something else than the target's decoding. Figures are those of public reports, named at each case.
#include <catch2/catch.hpp>

#include "typed_run.h"

namespace parallel_lists_test {

using namespace treeline::testing::typed;

TEST_CASE("rates in a list belong to the settings of the list before them, in order") {
    // llama.cpp 25908: 165.4, 170.0 and 164.3 tok/s at n-max 8, 16 and 64. 1e6 / 165.4 = 6046 us.
    const std::string listed = "1/8/0: 6046, 1/16/0: 5882, 1/64/0: 6086";
    CHECK(cells_of(read("Flat across `--spec-draft-n-max` 8 / 16 / 64: **165.4 / 170.0 / 164.3 tok/s**\n")) == listed);
    CHECK(cells_of(read("K=8,16,64: 165.4, 170.0, 164.3 tok/s\n")) == listed);
    CHECK(cells_of(read("n-max 8/16/64: 165.4/170.0/164.3 tok/s; without: 237 tok/s\n")) == "1/0/0: 4219, " + listed);
    CHECK(cells_of(read("baseline / MTP K=2: 63 / 80 tok/s\n")) == "1/0/0: 15873, 1/2/0: 12500");
    // The acceptance in brackets is in the same order; a range is of all together.
    const auto accepted = read("K=2 / 4: 70 / 80 tok/s (accept length 1.9 / 2.6, over 3-5 runs)\n");
    REQUIRE(accepted.cells.size() == 2);
    CHECK(accepted.cells[0].accept_length() == Approx(1.9));
    CHECK(accepted.cells[1].accept_length() == Approx(2.6));
}

TEST_CASE("rates in a list without settings are runs of one set-up where they are near each other, and else none") {
    CHECK(cells_of(read("K=3: 100 / 104 / 102 tok/s\n")) == "1/3/0: 9804");
    const auto far = read("off: 30 tok/s. K=3 on code and prose: 60 / 40 tok/s\nK=2: 45 tok/s\n");
    CHECK(cells_of(far) == "1/0/0: 33333, 1/2/0: 22222");
    CHECK(says(remarks_of(far), "rates in a list were left out"));
}

TEST_CASE("the drafter's own speed is not the target's plain decoding") {
    // The same report: 474.6 tok/s of Qwen3-0.6B alone, which drafts.
    const auto run = read(
        "- The draft model itself is fine. Qwen3-0.6B served solo, plain decode: 474.6 tok/s\n"
        "- n-max 8 / 16: 165.4 / 170.0 tok/s\n");
    CHECK(cells_of(run) == "1/8/0: 6046, 1/16/0: 5882");
    CHECK(says(remarks_of(run), "of the drafter by itself"));
    CHECK(cells_of(
              read("The draft model alone runs at 474 tok/s. The target alone runs at 30 tok/s. With K=4 I get 41 tok/s.\n")) ==
          "1/0/0: 33333, 1/4/0: 24390");
    CHECK(cells_of(read("draft model: 474 tok/s, K=4: 120 tok/s, baseline: 80 tok/s\n")) == "1/0/0: 12500, 1/4/0: 8333");
}

TEST_CASE("where a threshold ends drafts, a share of them gives no accept length") {
    const auto run = read("With p-min 0.75, K=8 gives 165.4 tok/s (acceptance 0.90); baseline: 237 tok/s\n");
    CHECK(cells_of(run) == "1/0/0: 4219, 1/8/0: 6046");
    REQUIRE(run.drafts().size() == 1);
    CHECK(run.drafts().front().stated_length == 0.0);
}

TEST_CASE("a speed-up with both rates behind it is plain decoding and drafts") {
    // 1.27x (63 to 80 tok/s) for MTP at K=2 on Qwen3.6-35B-A3B, in a table of a fork of llama.cpp.
    const std::string heading = "| Flavour | Best config | Speedup vs AR |\n|---|---|---|\n";
    CHECK(cells_of(read(heading + "| MTP | K=2 | **1.27\u00D7** (63 \u2192 80 tok/s) |\n")) == "1/0/0: 15873, 1/2/0: 12500");
    CHECK(
        cells_of(read("| config | speedup |\n|---|---|\n| baseline | 1.0x |\n| EAGLE3 K=3 | 1.6x (24 \u2192 38 tok/s) |\n")) ==
        "1/0/0: 41667, 1/3/0: 26316");
    // 50 over 63 is no 1.27: of what the numbers are is not known.
    CHECK(says(refusal(heading + "| MTP | K=2 | 1.27x (63 \u2192 50 tok/s) |\n"), "formats"));
    CHECK(says(refusal("| config | effect |\n|---|---|\n| EAGLE3 K=3 | 24 \u2192 38 |\n"), "(\"24 \u2192 38\")"));
}

TEST_CASE("whatever word denies drafting, its rate is of plain decoding") {
    for (const char* plain :
         {"with non-MTP", "without MTP", "w/o MTP", "MTP turned off", "not using speculation", "sans MTP"}) {
        INFO(plain);
        // 30 and 20 t/s, n-max 3, on an M3 Max.
        CHECK(cells_of(read("I get 30 t/s " + std::string(plain) + " and 20 t/s with MTP (`--spec-draft-n-max 3`).\n")) ==
              "1/0/0: 33333, 1/3/0: 50000");
    }
}

TEST_CASE("a column of yes and no says which rows draft, whatever --draft-tokens says") {
    // lmstudio-ai/mlx-engine, issue 370: 60-80 tok/s with the heads, about 30 without.
    const std::string table =
        "| runtime | MTP heads used | decode |\n|---|---|---|\n| MTPLX | yes | 60-80 tok/s |\n| LM Studio | no | ~30 tok/s |\n";
    CHECK(cells_of(read(table, 2)) == "1/0/0: 33333, 1/2/0: 14286");
    CHECK(says(refusal(table), "--draft-tokens K says it"));
    CHECK(cells_of(read("| speculation enabled | tok/s |\n|---|---|\n| \u2705 | 60 |\n| \u274C | 30 |\n", 3)) ==
          "1/0/0: 33333, 1/3/0: 16667");
}

TEST_CASE("a program that compares drafts with plain decoding is not given another program's baseline") {
    // MTPLX, issue 68: 14.8 tok/s plain and 21.4 at depth 2, 1.45x; mlx_lm had printed 20.371.
    const auto run = read(
        "==========\nPrompt: 17 tokens, 42.003 tokens-per-sec\nGeneration: 1687 tokens, 20.371 tokens-per-sec\n\n"
        "AR     14.8 tok/s   1.00x\nD2     21.4 tok/s   1.45x  BEST\n");
    CHECK(cells_of(run) == "1/0/0: 67568, 1/2/0: 46729");
    CHECK(says(remarks_of(run), "was left out beside 14.8"));
}

TEST_CASE("a draft length that is stated below a table is that of its rows") {
    // 28.9 and 44.9 tok/s on an Arc Pro B70, with 2 draft tokens by the flag below the table.
    const std::string table =
        "| Config | decode tok/s | acceptance |\n|---|--:|--|\n| MTP-off | 28.9 | - |\n| MTP-on | 44.9 | accept-len 2.21 |\n\n";
    const std::string flag = "via `--speculative-config '{\"method\":\"qwen3_5_mtp\",\"num_speculative_tokens\":2}'`\n";
    CHECK(cells_of(read(table + flag)) == "1/0/0: 34602, 1/2/0: 22272");
    CHECK(says(refusal(table), "--draft-tokens K says it"));
    const std::string other = "via `--speculative-config '{\"method\":\"mtp\",\"num_speculative_tokens\":4}'`\n";
    CHECK(says(refusal(table + flag + other), "--draft-tokens K says it"));  // of which of them is not known
}

TEST_CASE("the heading of the first column names the unit of a table of loads") {
    // 22.3 and 38.9 t/s of one and two requests without drafts, 38.8 and 56.7 with two.
    CHECK(cells_of(read("aggregate t/s\tnp=1\tnp=2\nno speculation\t22.3\t38.9\n`draft-mtp`, n-max 2\t38.8\t56.7\n")) ==
          "1/0/0: 44843, 2/0/0: 51414, 1/2/0: 25773, 2/2/0: 35273");
}

}  // namespace parallel_lists_test
