// Are tables read as pages and other languages lay them out, and is it said what of them is not? The numbers are made up.
#include <catch2/catch.hpp>

#include "typed_run.h"

namespace copied_tables_test {

using namespace treeline;
using namespace treeline::testing::typed;

TEST_CASE("tags that frame the rows of a table are no rows") {
    CHECK(
        cells_of(read("<table>\n<thead>\n<tr>\n<th>Config</th>\n<th>Decode tok/s</th>\n</tr>\n</thead>\n<tbody>\n"
                      "<tr><td>baseline</td><td>20</td></tr>\n<tr>\n<td>K=3</td>\n<td>25</td>\n</tr>\n</tbody>\n</table>\n")) ==
        "1/0/0: 50000, 1/3/0: 40000");
}

TEST_CASE("a row copied from a page may lack its empty last cells") {
    const runs::MeasuredRun run = read(
        "Tokens\tBaseline (tok/s)\tMTP k=3 (tok/s)\tSpeedup\tAcceptance "
        "rate\tMemory\n\n256\t20\t40\t2.00x\t60%\n512\t25\t50\t2.00x\t60%\n");
    REQUIRE_FALSE(run.cells.empty());
    CHECK(run.cells.front().draft_tokens == 0);
    CHECK(run.cells.back().draft_tokens == 3);
    CHECK(run.cells.back().stated_length == Approx(2.8));
}

TEST_CASE("a model with a drafter beside it is the same model") {
    const std::string table =
        "| Model | Output tok/s | Accept len |\n|---|---|---|\n| Some-4B | 100 | - |\n"
        "| Some-4B + EAGLE3 | 200 | 2.5 |\n| Some-4B + DFlash2 | 400 | 3.1 |\n| Other-4B | 50 | - |\n";
    CHECK(says(refusal(table), "--draft-tokens K"));
    const runs::MeasuredRun run = read(table, 4);
    CHECK(cells_of(run) == "1/0/0: 10000, 1/4/0: 5000");
    CHECK(run.cells.back().stated_length == Approx(2.5));
    CHECK(says(remarks_of(run), "rows of dflash2 beside those of eagle3"));
    CHECK(says(remarks_of(run), "rows of another model"));
}

TEST_CASE("acceptance in the cell of a rate, and in other languages") {
    CHECK(read("| Run | Speed |\n|---|---|\n| Baseline | 20 t/s |\n| MTP k=2 | 40 t/s, 75% accept |\n")
              .cells.back()
              .stated_length == Approx(2.5));
    const runs::MeasuredRun run = read(
        "| Configuración | mediana tok/s | tasa aceptación | longitud media aceptada |\n|---|---|---|---|\n| MTP off | 50,5 | "
        "- | - |\n"
        "| n-max 2 | 100,5 | 0,81 | 2,62 |\n");
    REQUIRE(run.cells.size() == 2);
    CHECK(run.cells.back().stated_length == Approx(2.62));
    CHECK(read("| Configuración | tok/s | tasa de aceptación |\n|---|---|---|\n| n-max 2 | 100,5 | 0,75 |\n")
              .cells.back()
              .stated_length == Approx(2.5));
}

TEST_CASE("a further table without a unit is named") {
    const runs::MeasuredRun run = read(
        "## on and off, tok/s\n| shape | MTP off | MTP on (n=4) |\n|---|---|---|\n| code | 20 | 40 |\n\n"
        "## the sweep\n| shape | n=2 | n=3 |\n|---|---|---|\n| code | 30 | 35 |\n");
    CHECK(cells_of(run) == "1/0/0: 50000, 1/4/0: 25000");
    CHECK(says(remarks_of(run), "a table was left out, since its columns \"n=2\" and \"n=3\" name no unit"));
}

TEST_CASE("a mean below runs is none of its own") {
    CHECK(cells_of(read("With k=3:\nrun 1: 60 tok/s\nrun 2: 40 tok/s\navg: 10 tok/s\n")) == "1/3/0: 20833");
}

TEST_CASE("a table of metrics may lack the bars at its sides") {
    const std::string table =
        "Metric | Strict | Loose\n-- | -- | --\nOutput token throughput (tok/s) | 100 | 120\n"
        "Mean TPOT (ms) | 10 | 8\nAcceptance length | 2.4 | 2.6\n";
    CHECK(says(refusal(table), "--draft-tokens K"));
    const runs::MeasuredRun run = read(table, 3);
    CHECK(cells_of(run) == "0/3/0: 10000");
    CHECK(run.cells.front().stated_length == Approx(2.4));
    CHECK(says(remarks_of(run), "\"Loose\" was left out"));
}

TEST_CASE("what is wrong with several rows alike is said once") {
    const std::string why =
        refusal("| setup | tok/s | accept length |\n|---|---|---|\n| MTP | 50 | 2.5 |\n| MTP | 60 | 2.6 |\n");
    REQUIRE(says(why, "--draft-tokens K"));
    CHECK(why.find("--draft-tokens K") == why.rfind("--draft-tokens K"));
}

TEST_CASE("what stands alone over the headings of a table is said of all columns") {
    const std::string head = "  | TPOT ms |   |   |  \n-- | -- | -- | -- | --\n";
    CHECK(cells_of(read(head + "BS 1 | vanilla | k=1 | k=3 | k=1 over vanilla\nchat | 20 | 15 | 10 | 1.3\n")) ==
          "1/0/0: 20000, 1/1/0: 15000, 1/3/0: 10000");
    const runs::MeasuredRun run =
        read(head + "BS 1 | vanilla | EAGLE 1 | EAGLE 3 | E1 over vanilla\nK=2 | 20 | 15 | 10 | 1.3\n");
    CHECK(cells_of(run) == "1/0/0: 20000");
    CHECK(says(remarks_of(run), "\"EAGLE 1\" and \"EAGLE 3\" were left out"));
}

TEST_CASE("acceptance in a line below the only drafts is theirs") {
    const runs::MeasuredRun run = read("20 -> 40 tok/s with --spec-draft-n-max 4.\nAggregate draft acceptance: 0.5.\n");
    CHECK(cells_of(run) == "1/0/0: 50000, 1/4/0: 25000");
    CHECK(run.cells.back().stated_length == Approx(3.0));
    CHECK(read("K=2: 40 tok/s\nK=4: 50 tok/s\nDraft acceptance: 0.5\n").cells.back().stated_length == 0.0);
    CHECK(read("| Config | tok/s | Draft acc |\n|---|---|---|\n| K=2 | 40 | 75% |\n").cells.back().stated_length ==
          Approx(2.5));
}

TEST_CASE("rates of look-ups give no accept length, since only some rounds draft") {
    for (const std::string setup : {"n-gram, k=5", "ngramSimple draft=5", "prompt lookup K=5"}) {
        const runs::MeasuredRun run =
            read("| config | tok/s | acceptance |\n|---|---|---|\n| off | 20 | - |\n| " + setup + " | 25 | 90% |\n");
        CHECK(cells_of(run) == "1/0/0: 50000, 1/5/0: 40000");
        CHECK(run.cells.back().stated_length == 0.0);
        CHECK(says(remarks_of(run), "a look-up drafts only where it finds something"));
    }
}

TEST_CASE("what was not measured is no row") {
    const runs::MeasuredRun run =
        read("| K | tok/s |\n|---|---|\n| 0 | 20 |\n| 2 | 40 |\n| 3 | ~50 (projected) |\n| 4 | 55 (estimate, not run) |\n");
    CHECK(cells_of(run) == "1/0/0: 50000, 1/2/0: 25000");
    CHECK(says(remarks_of(run), "\"~50 (projected)\" was left out: it was not measured"));
    CHECK(cells_of(read("| K | tok/s | projected tok/s |\n|---|---|---|\n| 2 | 40 | 90 |\n")) == "1/2/0: 25000");
}

TEST_CASE("a heading may say which statistics its cells hold") {
    const std::string rows = "|---|---|---|\n| 2 | 40 / 50 / 80 | ~2.2–2.6 |\n";
    CHECK(cells_of(read("| K | tok/s (mean / median / max) | accept length |\n" + rows)) == "1/2/0: 25000");
    CHECK(cells_of(read("| K | tok/s (min / p50 / max) | accept length |\n" + rows)) == "1/2/0: 20000");
    CHECK(read("| K | tok/s (mean / median / max) | accept length |\n" + rows).cells.front().stated_length == Approx(2.4));
}

TEST_CASE("beside an average, single runs are none of their own") {
    CHECK(cells_of(read("| Mode | Run 1 | Run 2 | Average |\n|---|---|---|---|\n"
                        "| MTP inactive | 18 tok/s | 22 tok/s | 20 tok/s |\n| MTP active | 39 tok/s | 41 tok/s | 40 tok/s |\n",
                        3)) == "1/0/0: 50000, 1/3/0: 25000");
}

TEST_CASE("a cap of drafts is their number, and an AL may name its drafter") {
    const runs::MeasuredRun run = read(
        "| mode | cap | baseline tok/s | dflash tok/s | dflash AL |\n|---|---|---|---|---|\n| chat | 3 | 20 | 40 | 2.5 |\n");
    CHECK(cells_of(run) == "1/0/0: 50000, 1/3/0: 25000");
    CHECK(run.cells.back().stated_length == Approx(2.5));
}

}  // namespace copied_tables_test
