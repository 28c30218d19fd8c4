// SpecMamba's claims as experiments: does every row hold the figures of the round that it is about?
#include <catch2/catch.hpp>

#include "fpga_runs.h"
#include "sim/fpga/ablation.h"
#include "sweeps/fpga/fpga_claims.h"

namespace fpga_claims_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

FpgaClaimsInput input() {
    FpgaClaimsInput input;
    input.run = fpga_run();
    input.drafters = {*input.run.drafter, {"mamba2-130m", sim::fpga::shape_of(model("mamba2-130m"))}};
    input.states = {{"fp16", {16.0, 0.0, 0.0}}, {"int8", {8.0, 4.0, 8.0}}};
    FpgaRun narrow = input.run;
    narrow.design.name = "other";
    narrow.board.bandwidth = narrow.board.bandwidth * 0.25;
    input.designs = {input.run, narrow};
    input.structures = {{"chat", "chain of 2", sim::build_tree(sim::ChainShape{2}, sim::RankAcceptance()), 1.9},
                        {"code", "tree", input.run.tree, 2.5}};
    input.structures_source = "a table";
    return input;
}

double number(const FpgaClaim& claim, std::size_t row, std::size_t column) {
    return std::get<double>(claim.rows.at(row).at(column));
}

}  // namespace

TEST_CASE("claims of an accelerator: each has a cell for every column", "[fpga]") {
    const std::vector<FpgaClaim> claims = fpga_claims(input());
    REQUIRE(claims.size() == 5);
    const std::size_t rows[] = {2, 5, 2, 2, 2};
    for (std::size_t i = 0; i < claims.size(); ++i) {
        CHECK(claims[i].rows.size() == rows[i]);
        for (const std::vector<ClaimCell>& row : claims[i].rows) {
            CHECK(row.size() == claims[i].columns.size());
        }
    }
}

TEST_CASE("claims of an accelerator: a smaller drafter is better above the accept length of equal tokens/s", "[fpga]") {
    const FpgaClaimsInput asked = input();
    const FpgaClaim sizes = fpga_claims(asked)[0];
    const sim::fpga::RoundCost own = cost_of(asked.run);
    for (std::size_t row = 0; row < 2; ++row) {
        FpgaRun run = asked.run;
        run.drafter = asked.drafters[row];
        const sim::fpga::RoundCost round = cost_of(run);
        CHECK(number(sizes, row, 1) == Approx(1e3 * round.draft.value()));
        CHECK(number(sizes, row, 2) == Approx(1e3 * round.time.value()));
        CHECK(number(sizes, row, 3) == Approx(round.time / round.plain.time));
        CHECK(number(sizes, row, 4) / round.time.value() == Approx(own.tokens_per_second));
    }
    CHECK(number(sizes, 0, 4) == Approx(2.4));  // of the run's own drafter
    CHECK_THAT(sizes.finding, Catch::StartsWith("With 2.40 tokens per round for mamba2-370m: mamba2-130m is better than"));
    CHECK_THAT(sizes.finding, Catch::EndsWith("A tree of depth 2 yields at most 3."));
}

TEST_CASE("claims of an accelerator: tokens per joule are there where the power is known", "[fpga]") {
    FpgaClaimsInput asked = input();
    const FpgaClaim ablation = fpga_claims(asked)[1];
    const auto rows = sim::fpga::ablation(asked.run.board, asked.run.design, asked.run.target.shape, asked.run.drafter->shape,
                                          asked.run.tree, asked.run.accept_length);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        CHECK(number(ablation, row, 1) == rows[row].round.tokens_per_second);
        CHECK(number(ablation, row, 3) == rows[row].round.tokens_per_joule);
    }
    CHECK_THAT(ablation.finding, Catch::Contains(" In tokens per joule they gain "));
    asked.run.board.static_power = Watts(0.0);
    const FpgaClaim unknown = fpga_claims(asked)[1];
    for (const std::vector<ClaimCell>& row : unknown.rows) {
        CHECK(std::holds_alternative<double>(row[2]));
        CHECK(std::holds_alternative<std::monostate>(row[3]));
        CHECK(std::holds_alternative<std::monostate>(row[4]));
    }
    CHECK_THAT(unknown.finding, !Catch::Contains("joule"));
}

TEST_CASE("claims of an accelerator: state formats, boards and structures with rates of their rounds", "[fpga]") {
    const FpgaClaimsInput asked = input();
    const std::vector<FpgaClaim> claims = fpga_claims(asked);
    const FpgaClaim &states = claims[2], &memories = claims[3], &structures = claims[4];
    for (std::size_t row = 0; row < 2; ++row) {
        FpgaRun run = asked.run;
        run.design.state = asked.states[row].storage;
        const sim::fpga::RoundCost round = cost_of(run);
        CHECK(number(states, row, 1) == (row == 0 ? 16.0 : 8.5));
        CHECK(number(states, row, 2) == Approx(1e-6 * round.verify.bytes.states.value()));
        CHECK(number(states, row, 3) * round.plain.time.value() == Approx(1.0));
        CHECK(number(states, row, 4) == Approx(2.4 / round.time.value()));

        const sim::fpga::RoundCost on_board = cost_of(asked.designs[row]);
        CHECK(number(memories, row, 1) == Approx(row == 0 ? 819.0 : 204.75));
        CHECK(number(memories, row, 2) * on_board.plain.time.value() == Approx(1.0));
        CHECK(number(memories, row, 3) == on_board.tokens_per_second);
        CHECK(number(memories, row, 7) <= number(memories, row, 3));  // with the target's narrow tile

        run = asked.run;
        run.tree = asked.structures[row].tree;
        run.accept_length = asked.structures[row].accept_length;
        const sim::fpga::RoundCost structured = cost_of(run);
        CHECK(number(structures, row, 4) == Approx(1e3 * structured.time.value()));
        CHECK(number(structures, row, 5) == structured.tokens_per_second);
    }
    CHECK(number(structures, 0, 2) == 3.0);  // two drafts and the root
    // Less of a state to move is no slower.
    CHECK_THAT(states.finding, Catch::Matches("fp16 is [01]\\.[0-9]+x as fast as int8\\."));
    CHECK(number(states, 0, 4) <= number(states, 1, 4));
    CHECK(structures.finding == "Source: a table.");
}

}  // namespace fpga_claims_test
