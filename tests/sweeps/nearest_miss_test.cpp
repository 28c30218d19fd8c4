// Where no choice meets the limits: which one comes nearest, and by what it fails most.
#include <catch2/catch.hpp>

#include "recommend_workloads.h"
#include "setups.h"
#include "sweeps/recommend.h"

namespace nearest_miss_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

/// One drafter, one length, batch 4; time per token and memory of the only choice that drafts, and of plain decoding.
struct Only {
    Workload workload;
    Candidate drafting, plain;

    Only() {
        workload.variants = {variant("draft", pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph")))};
        const auto chains = sim::chains_up_to(3);
        workload.speculations = {chains[0], chains[3]};
        workload.traffic.points = {{4, 1000, 1.0}};
        const Recommendation found = *recommend(workload, 1).recommendation;
        for (const Candidate& candidate : found.candidates) {
            (candidate.speculation > 0 ? drafting : plain) = candidate;
        }
        REQUIRE(drafting.time_per_token < plain.time_per_token);
        REQUIRE(drafting.peak_memory > plain.peak_memory);
    }

    /// What is told of limits that the drafting choice misses by these factors.
    [[nodiscard]] std::string reason(double time, double memory) const {
        Workload limited = workload;
        limited.limits.time_per_token = drafting.time_per_token / time;
        limited.limits.memory = drafting.peak_memory / memory;
        const RecommendationResult none = recommend(limited, 1);
        CHECK_FALSE(none.recommendation);
        return none.nearest ? none.nearest->reason : "";
    }
};

}  // namespace

TEST_CASE("the limit that is missed most tells how near a choice comes, however little that is") {
    const Only only;
    CHECK_THAT(only.reason(1.5, 0.9), Catch::StartsWith("with 3 drafts it reaches a TPOT of"));
    CHECK_THAT(only.reason(1.5, 1.2), Catch::StartsWith("with 3 drafts it reaches a TPOT of"));
    CHECK_THAT(only.reason(1.3, 1.1), Catch::StartsWith("with 3 drafts it reaches a TPOT of"));
    // Plain decoding needs less memory, and is nearer once that is what is missed most.
    const double less = only.drafting.peak_memory / only.plain.peak_memory,
                 slower = only.plain.time_per_token / only.drafting.time_per_token;
    REQUIRE(less > 1.05);
    CHECK_THAT(only.reason(1.01, 1.9 * slower), Catch::Contains("GB of memory"));
    CHECK_THAT(only.reason(1.01, 1.9 * slower), !Catch::Contains("drafts"));
}

TEST_CASE("a figure and its limit have as many digits as tell them apart") {
    const Only only;
    for (const double factor : {1.5, 1.0001, 1.000001}) {
        const std::string reason = only.reason(factor, 0.9);
        const std::size_t figure = reason.find("TPOT of ") + 8, limit = reason.find("; ") + 2;
        CHECK(reason.substr(figure, reason.find(" ms", figure) - figure) !=
              reason.substr(limit, reason.find(" ms", limit) - limit));
    }
    CHECK_THAT(only.reason(1.5, 0.9), Catch::Matches("with 3 drafts it reaches a TPOT of [0-9]+\\.[0-9]{2} ms; .*"));
}

TEST_CASE("a load that is left out is told of by what comes nearest to serving it") {
    Only only;
    only.workload.traffic.points = {{1, 1000, 0.5}, {64, 1000, 0.5}};
    Workload alone = only.workload;
    alone.traffic.points = {{64, 1000, 1.0}};
    const Recommendation at_64 = *recommend(alone, 1).recommendation;
    const Candidate& best = at_64.candidates.front();
    REQUIRE(best.draft_tokens == 3);
    only.workload.limits.time_per_token = best.time_per_token / 1.0001;
    const Recommendation found = *recommend(only.workload, 1).recommendation;
    REQUIRE(found.unserved.size() == 1);
    CHECK_THAT(found.unserved.front().reason, Catch::Contains("draft on h100-sxm: with 3 drafts it reaches a TPOT of"));
}

TEST_CASE("the first token of a choice may be what is missed most") {
    Only only;
    only.workload.prompt_tokens = 2000.0;
    Workload late = only.workload;
    late.limits.time_to_first_token = Seconds(1e-4);
    late.limits.time_per_token = only.drafting.time_per_token / 1.1;
    const RecommendationResult none = recommend(late, 1);
    CHECK_FALSE(none.recommendation);
    REQUIRE(none.nearest);
    CHECK(none.nearest->reason.find("TTFT") != std::string::npos);
}

TEST_CASE("a limit that is just met is not missed") {
    const Only only;
    Workload met = only.workload;
    met.limits.time_per_token = only.drafting.time_per_token;  // that plain decoding misses, and drafts gain too little
    met.limits.minimum_gain = 100.0;
    const RecommendationResult none = recommend(met, 1);
    CHECK_FALSE(none.recommendation);
    REQUIRE(none.nearest);
    CHECK_THAT(none.nearest->reason, Catch::StartsWith("it reaches a TPOT of "));
}

}  // namespace nearest_miss_test
