// What an answer says of itself: why no runs can be planned for it, and whether an accelerator's run drafts.
#include <catch2/catch.hpp>

#include "setups.h"
#include "sweeps/fpga/fpga_run.h"
#include "sweeps/recommend_answer.h"

namespace answers_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

TEST_CASE("runs are planned for a recommended configuration that drafts on an engine") {
    Answer answer;
    CHECK_THAT(why_not_planned(answer), Catch::StartsWith("no configuration meets the limits"));
    Recommendation found;
    found.variants.resize(2);
    found.candidates.resize(1);
    found.candidates.front().variant = 1;
    answer.result.recommendation = found;
    CHECK_THAT(why_not_planned(answer), Catch::StartsWith("plain decoding is recommended"));
    answer.result.recommendation->candidates.front().speculation = 2;
    CHECK(why_not_planned(answer).empty());
    answer.result.recommendation->variants[1].setup.platform.accelerator.emplace();
    CHECK_THAT(why_not_planned(answer), Catch::StartsWith("an accelerator is recommended"));
}

TEST_CASE("an accelerator drafts with a drafter and a tree of nodes") {
    FpgaRun run;
    CHECK_FALSE(run.speculates());
    run.tree = sim::build_tree(sim::ChainShape{2}, sim::RankAcceptance());
    CHECK_FALSE(run.speculates());
    run.drafter.emplace();
    CHECK(run.speculates());
    run.tree = sim::DraftTree();
    CHECK_FALSE(run.speculates());
}

}  // namespace answers_test
