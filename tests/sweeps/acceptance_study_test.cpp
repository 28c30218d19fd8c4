// Do the exact figures of a study, means over several synthetic models, agree with what decoding them counts?
#include <catch2/catch.hpp>

#include <numeric>

#include "sim/trees/tree_shape.h"
#include "sweeps/acceptance_study.h"

namespace acceptance_study_test {

using namespace treeline;
using namespace treeline::sweeps;

namespace {

AcceptanceStudy small_study() {
    AcceptanceStudy study;
    study.world.vocabulary = 6;
    study.trees = {{"chain 2", sim::build_tree(sim::ChainShape{2}, sim::RankAcceptance())},
                   {"widths 2,1", sim::build_tree(sim::WidthsShape{{2, 1}}, sim::RankAcceptance())}};
    study.temperatures = {1.0};
    study.worlds = 3;
    study.rounds = 6000;
    return study;
}

}  // namespace

TEST_CASE("exact accept lengths and ranks are those of decoding, method by method") {
    const AcceptanceStudyAnswer found = answer(small_study(), "study");
    std::size_t exact = 0;
    for (const StudiedTreeAnswer& tree : found.trees) {
        for (const StudiedMethod& method : tree.methods) {
            const StudiedCell& cell = method.cells.front();
            INFO(tree.tree.label << ", " << name_of(method.method));
            if (!cell.exact) {
                continue;
            }
            ++exact;
            CHECK(cell.decoded.rounds == 6000);  // 2,000 of each of three models
            CHECK(cell.exact->at_least.front() == Approx(1.0));
            CHECK(std::abs(cell.exact->accept_length() - cell.decoded.accept_length) < 1.5 * cell.decoded.margin());
            // Whatever is accepted has a rank: the bonus token alone has none.
            const std::vector<double>& ranks = cell.exact->accepted_by_rank;
            const double ranked = std::accumulate(ranks.begin(), ranks.end(), 0.0);
            CHECK(ranked == Approx(cell.exact->accept_length() - 1.0));
        }
    }
    CHECK(exact >= 4);
}

TEST_CASE("a round in which none of a token's children is accepted is as frequent as it is decoded") {
    const AcceptanceStudyAnswer found = answer(small_study(), "study");
    for (const StudiedTreeAnswer& tree : found.trees) {
        for (const StudiedMethod& method : tree.methods) {
            const StudiedCell& cell = method.cells.front();
            INFO(tree.tree.label << ", " << name_of(method.method));
            REQUIRE(cell.exact);
            // Of 6,000 rounds: three deviations of a share of a half are 2 %.
            CHECK(cell.exact->none_accepted ==
                  Approx(static_cast<double>(cell.decoded.none_accepted) / static_cast<double>(cell.decoded.rounds))
                      .margin(0.02));
            if (tree.tree.label == "chain 2") {  // whatever does not reach its end
                CHECK(cell.exact->none_accepted == Approx(1.0 - cell.exact->at_least.back()));
            }
            const sim::RankAcceptance exact = cell.by_rank();
            CHECK(exact.rank(1) == Approx(cell.decoded.by_rank().rank(1)).margin(0.03));
        }
    }
}

TEST_CASE("where an exact expectation would take too long there is none, and decoding alone") {
    AcceptanceStudy study = small_study();
    study.world.vocabulary = 32;
    study.worlds = 2;
    study.rounds = 100;
    study.trees = {{"eight children", sim::build_tree(sim::WidthsShape{{8}}, sim::RankAcceptance())}};
    const AcceptanceStudyAnswer found = answer(study, "study");
    std::size_t missing = 0;
    for (const StudiedMethod& method : found.trees.front().methods) {
        const StudiedCell& cell = method.cells.front();
        missing += cell.exact ? 0 : 1;
        CHECK(cell.decoded.accept_length >= 1.0);
    }
    CHECK(missing > 0);
}

TEST_CASE("models fitted to one measured accept length, or to two, accept as much") {
    AcceptanceStudy study = small_study();
    study.rounds = 100;
    study.measured = MeasuredStudy{study.trees.front(), sim::sampling::Method::token_wise, {{{1.0, 1.0}, 2.1}}};
    const AcceptanceStudyAnswer one = answer(study, "study");
    REQUIRE(one.fitted_lengths.size() == 1);
    CHECK(one.fitted_lengths.front() == Approx(2.1).epsilon(1e-3));
    // What these models accept at another temperature, as a second measurement.
    const sim::sampling::MethodOnTree chain{sim::sampling::Method::token_wise, study.trees.front().tree};
    const sim::sampling::FittedWorlds fit =
        sim::sampling::fit_mismatch(sim::sampling::worlds(study.world, study.worlds), chain, {{1.0, 1.0}, 2.1});
    const double second = *sim::sampling::exact_length(fit.worlds, chain, {0.5, 0.5});
    study.measured->lengths.push_back({{0.5, 0.5}, second});
    for (int order = 0; order < 2; ++order) {  // whichever of them is stated first
        const AcceptanceStudyAnswer two = answer(study, "study");
        REQUIRE(two.fitted_lengths.size() == 2);
        for (std::size_t i = 0; i < 2; ++i) {
            CHECK(two.fitted_lengths[i] == Approx(study.measured->lengths[i].accept_length).margin(0.02));
        }
        std::swap(study.measured->lengths[0], study.measured->lengths[1]);
    }
}

TEST_CASE("a study that states no temperatures is of greedy decoding, of 1 and of two between") {
    CHECK(AcceptanceStudy{}.temperatures == std::vector<double>{0.0, 0.3, 0.7, 1.0});
    CHECK(AcceptanceStudy{}.at(0.7).drafter == 0.7);
}

}  // namespace acceptance_study_test
