// The choice made again where uncertain inputs lie elsewhere, and what another cost mode says: with drafters whose acceptance
// is known, or is not.
#include <catch2/catch.hpp>

#include "recommend_workloads.h"
#include "setups.h"
#include "sweeps/trust.h"

namespace choice_worlds_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

/// A look-up whose first draft is accepted at a rate that is known but for `spread`.
Variant lookup(const std::string& name, double rate, double spread) {
    sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    setup.drafter = sim::NgramDrafter{};
    setup.acceptance = sim::DraftAcceptance(sim::Acceptance::geometric(rate));
    setup.acceptance.spread = spread;
    return variant(name, setup);
}

/// One request at a time, for which each of them drafts three tokens or none.
Workload one_at_a_time(std::vector<Variant> variants) {
    Workload workload;
    workload.speculations = {sim::chains_up_to(3).front(), sim::chains_up_to(3).back()};
    for (Variant& each : variants) {
        each.setup.speculations = workload.speculations;
    }
    workload.variants = std::move(variants);
    workload.traffic.points = {{1.0, 1000.0, 1.0}};
    workload.objective = Objective::latency;
    return workload;
}

Recommendation recommended(const Workload& workload) {
    const Recommendation found = *recommend(workload, 1).recommendation;
    REQUIRE(found.speculate);
    return found;
}

ChoiceWorlds choice_of(const Workload& workload, const MeasuredErrors& errors = {}) {
    return *trust_of(recommended(workload), workload, GainInterval{}, errors).choice;
}

}  // namespace

TEST_CASE("a choice that gains far more than anything is unsure of is made in every world") {
    const ChoiceWorlds choice = choice_of(one_at_a_time({lookup("lookup", 0.6, 0.0)}));
    CHECK(choice.worlds > 0);
    CHECK(choice.best == choice.worlds);
    CHECK(choice.near_best == choice.worlds);
    CHECK(choice.rival.empty());
}

TEST_CASE("of choices that are as good in every world the recommended one is the best") {
    const ChoiceWorlds choice = choice_of(one_at_a_time({lookup("lookup", 0.6, 0.0), lookup("twin", 0.6, 0.0)}));
    CHECK(choice.best == choice.worlds);
}

TEST_CASE("a gain that is asked for keeps no choice out of a world, and another limit does") {
    Workload workload = one_at_a_time({lookup("lookup", 0.6, 0.0)});
    const Recommendation found = recommended(workload);
    workload.limits.minimum_gain = 0.9999 * found.candidates.front().gain;  // that it misses where kernels are slower
    const ChoiceWorlds gains = choice_of(workload);
    CHECK(gains.best == gains.worlds);
    workload.limits = Limits{};
    workload.limits.time_per_token = 1.0001 * found.candidates.front().time_per_token;
    const ChoiceWorlds quick = choice_of(workload);
    CHECK(quick.best < quick.worlds);
    CHECK(quick.near_best < quick.worlds);
    CHECK(quick.best > 0);
}

TEST_CASE("four rivals are looked at, and the one that wins most often is named with what it drafts") {
    const Workload workload =
        one_at_a_time({lookup("first", 0.60, 0.0), lookup("second", 0.59, 0.0), lookup("third", 0.58, 0.0),
                       lookup("fourth", 0.57, 0.0), lookup("fifth", 0.56, 2.0)});  // of which little is known
    const ChoiceWorlds choice = choice_of(workload);
    CHECK(choice.best > 0);
    CHECK(choice.best < choice.worlds);
    CHECK(choice.rival == "fifth with chain 3");
    Workload more = workload;
    more.variants.insert(more.variants.begin() + 4, lookup("one more", 0.565, 0.0));
    more.variants[4].setup.speculations = more.speculations;
    const ChoiceWorlds without = choice_of(more);  // the sixth is no rival any more
    CHECK(without.best == without.worlds);
    CHECK(without.rival.empty());
}

TEST_CASE("gains that were measured as predicted leave the choice as it is where nothing was measured") {
    Workload workload = one_at_a_time({lookup("lookup", 0.1, 1.0)});  // hardly better than plain decoding
    workload.variants.front().setup.platform.stack.name = "vllm";
    MeasuredErrors::OfMode exact;
    for (int level = 0; level < 5; ++level) {
        exact.speed_ups.push_back({{{"vllm", "h100-sxm", "dense"}, level}, "a source", 1.0});
    }
    const ChoiceWorlds unmeasured = choice_of(workload), measured = choice_of(workload, {{exact}, "a test"});
    CHECK(unmeasured.best == measured.best);
    CHECK(unmeasured.near_best == measured.near_best);
    CHECK(unmeasured.best < unmeasured.worlds);
    CHECK(unmeasured.best > 0);
    CHECK(unmeasured.rival == "plain decoding");
    // And gains of half as much leave nothing of it.
    exact.speed_ups.clear();
    for (int level = 0; level < 5; ++level) {
        exact.speed_ups.push_back({{{"vllm", "h100-sxm", "dense"}, level}, "a source", 0.5});
    }
    CHECK(choice_of(workload, {{exact}, "a test"}).best == 0);
}

TEST_CASE("what is priced by laws of kernels is priced by data sheets beside, and the other way round, and nothing else is") {
    for (const sim::CostMode mode : {sim::CostMode::roofline, sim::CostMode::calibrated, sim::CostMode::hoi}) {
        Workload workload = one_at_a_time({lookup("lookup", 0.6, 0.0)});
        sim::RoundSetup& setup = workload.variants.front().setup;
        setup.platform.mode = mode;
        REQUIRE(setup.platform.device.calibration);
        const std::optional<OtherMode> other = trust_of(recommended(workload), workload, GainInterval{}, {}).other_mode;
        CHECK(other.has_value() == (mode != sim::CostMode::hoi));
        if (other) {
            setup.platform.mode = mode == sim::CostMode::roofline ? sim::CostMode::calibrated : sim::CostMode::roofline;
            CHECK(other->mode == setup.platform.mode);
            CHECK(other->gain ==
                  Approx(sim::evaluate(sim::compile_round(setup), {1, 1.0, 1000.0}).throughput_multiplier).epsilon(1e-9));
            setup.platform.mode = mode;
            setup.platform.device.calibration.reset();
            CHECK_FALSE(trust_of(recommended(workload), workload, GainInterval{}, {}).other_mode);
        }
    }
}

}  // namespace choice_worlds_test
