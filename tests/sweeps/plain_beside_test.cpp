// Which plain decoding gains and waits are over, where the devices may be cut in several ways.
#include <algorithm>

#include <catch2/catch.hpp>

#include "recommend_workloads.h"
#include "setups.h"
#include "sweeps/recommend.h"

namespace plain_beside_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

/// Llama-3-8B on H100s, cut by tensor parallelism or in stages, with one drafter under a load of requests in flight.
Workload on_two_cuts(double in_flight, double devices = 2.0) {
    Workload workload;
    workload.speculations = sim::chains_up_to(3);
    for (const double stages : {1.0, devices}) {
        sim::Platform where = platform("h100-sxm", "vllm", devices / stages);
        where.parallel.pipeline = stages;
        sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", where);
        setup.drafter = sim::OneLayerDrafter{};
        setup.prompt_tokens = 4000.0;
        setup.output_tokens = 500.0;
        setup.speculations = workload.speculations;
        Variant each = variant("one-layer", setup);
        each.labels.parallel = where.parallel;
        each.origin = origin_of(each.labels);
        workload.variants.push_back(std::move(each));
    }
    workload.traffic.points = {{in_flight, 4250.0, 1.0}};
    workload.traffic.kind = LoadKind::concurrency;
    workload.prompt_tokens = 4000.0;
    workload.limits.first_token_growth = workload.limits.waiting = sim::unlimited;
    workload.limits.minimum_gain = 1e-3;
    return workload;
}

/// Plain decoding on both cuts, the better one first.
std::vector<Candidate> plain_of(const Workload& workload) {
    const Recommendation found = *recommend(workload, 1).recommendation;
    std::vector<Candidate> plain;
    std::copy_if(found.candidates.begin(), found.candidates.end(), std::back_inserter(plain),
                 [](const Candidate& candidate) { return candidate.draft_tokens == 0; });
    REQUIRE(plain.size() == 2);
    return plain;
}

}  // namespace

TEST_CASE("gains are over the best plain decoding that keeps the limits, and over the best of all where none does") {
    for (const Objective objective : {Objective::throughput, Objective::latency}) {
        Workload workload = on_two_cuts(64.0);
        workload.objective = objective;
        const std::vector<Candidate> plain = plain_of(workload);
        CHECK(recommend(workload, 1).recommendation->plain.variant == plain[0].variant);
        const bool later = plain[0].time_to_first_token > plain[1].time_to_first_token;
        INFO(static_cast<int>(objective) << ": " << plain[0].time_to_first_token.value() << " and "
                                         << plain[1].time_to_first_token.value());
        if (later) {
            workload.limits.time_to_first_token = 0.5 * (plain[0].time_to_first_token + plain[1].time_to_first_token);
        } else {
            REQUIRE(plain[0].time_per_token > plain[1].time_per_token);
            workload.limits.time_per_token = 0.5 * (plain[0].time_per_token + plain[1].time_per_token);
        }
        const Recommendation limited = *recommend(workload, 1).recommendation;
        CHECK(limited.plain.variant == plain[1].variant);
        for (const Candidate& candidate : limited.candidates) {
            CHECK(candidate.gain == Approx(plain[1].objective / candidate.objective).epsilon(1e-9));
        }
        CHECK(std::any_of(limited.excluded.begin(), limited.excluded.end(),
                          [&](const Exclusion& exclusion) { return exclusion.variant == plain[0].variant; }));
        // A limit that no plain decoding keeps, and drafts do.
        workload.limits.time_to_first_token.reset();
        workload.limits.time_per_token = 0.99 * std::min(plain[0].time_per_token, plain[1].time_per_token);
        const std::optional<Recommendation> drafting = recommend(workload, 1).recommendation;
        REQUIRE(drafting);
        CHECK(drafting->plain.variant == plain[0].variant);
    }
}

TEST_CASE("drafts make the first token wait against the plain decoding that is shown, whatever its cut") {
    Workload workload = on_two_cuts(8.0, 8.0);
    workload.objective = Objective::latency;
    const Recommendation free = *recommend(workload, 1).recommendation;
    const auto growth = [&](const Candidate& candidate) {
        return candidate.time_to_first_token / free.plain.time_to_first_token;
    };
    const auto drafts = [&](const Recommendation& found) {
        std::vector<Candidate> drafting;
        std::copy_if(found.candidates.begin(), found.candidates.end(), std::back_inserter(drafting),
                     [](const Candidate& candidate) { return candidate.draft_tokens > 0; });
        return drafting;
    };
    const std::vector<Candidate> all = drafts(free);
    const auto [least, most] =
        std::minmax_element(all.begin(), all.end(), [&](const auto& a, const auto& b) { return growth(a) < growth(b); });
    REQUIRE(growth(*most) > 1.2 * growth(*least));  // of the stages, whose own plain decoding is as late
    workload.limits.first_token_growth = std::max(1.0, 0.5 * (growth(*least) + growth(*most)));
    const Recommendation limited = *recommend(workload, 1).recommendation;
    const std::vector<Candidate> kept = drafts(limited);
    REQUIRE_FALSE(kept.empty());
    for (const Candidate& candidate : kept) {
        CHECK(growth(candidate) <= workload.limits.first_token_growth);
    }
    CHECK(kept.size() == static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const Candidate& candidate) {
              return growth(candidate) <= workload.limits.first_token_growth;
          })));
    const auto plain = std::count_if(limited.candidates.begin(), limited.candidates.end(),
                                     [](const Candidate& candidate) { return candidate.draft_tokens == 0; });
    CHECK(plain == 2);  // nobody has to want plain decoding on another cut
}

TEST_CASE("a schedule's gain is over the plain decoding that is shown") {
    for (const double in_flight : {8.0, 64.0}) {
        const Workload workload = on_two_cuts(in_flight);
        const Recommendation found = *recommend(workload, 1).recommendation;
        REQUIRE(found.speculate);
        CHECK(found.schedule.gain == Approx(found.candidates.front().gain).epsilon(0.02));
    }
}

}  // namespace plain_beside_test
