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

}  // namespace acceptance_study_test
