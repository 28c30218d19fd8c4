// Do GPUs and FPGA accelerators meet in one search, with the figures that each has alone?
#include <catch2/catch.hpp>

#include <algorithm>

#include "hardware/accelerators.h"
#include "origins.h"
#include "setups.h"
#include "sim/fpga/round.h"
#include "sweeps/recommend.h"
#include "sweeps/sweep.h"
#include "sweeps/uncertainty.h"

namespace accelerator_recommend_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

/// SpecMamba (arXiv 2509.19873), Table V: the tree of 16 tokens yields 4.91, 5.98 and 5.82 accepted tokens, and the bonus
/// token.
constexpr double accept_length = (4.91 + 5.98 + 5.82) / 3.0 + 1.0;
const sim::TreeShape tree_of_16 = sim::ChildTableShape{{{3}, {2}, {2}, {2}, {2}, {2}, {1}, {1}}};

sim::Platform accelerated(const std::string& name) {
    sim::Platform found = hardware::load_hardware(source_folder() / "hardware", name, "").value;
    if (!found.accelerator) {
        found.stack = stack("cuda-graph");
    }
    return found;
}

Variant variant_on(const std::string& device, const std::string& target = "mamba2-2.7b") {
    Variant variant;
    variant.setup = pair_setup(target, "mamba2-370m", accelerated(device));
    variant.setup.acceptance = sim::Acceptance::geometric(0.7);
    variant.setup.acceptance.measured = {{sim::build_tree(tree_of_16, sim::RankAcceptance()), accept_length}};
    variant.setup.rollback = sim::rollbacks_for(variant.setup.target).front();
    variant.labels = {target,
                      "as published",
                      device,
                      variant.setup.platform.stack.name,
                      "",
                      "mamba2-370m",
                      std::string(name_of(variant.setup.rollback)),
                      1};
    variant.origin = origin_of(variant.labels);
    return variant;
}

Workload workload_of(Objective objective) {
    Workload workload;
    workload.variants = {variant_on("h100-sxm"), variant_on("specmamba-vck190"), variant_on("specmamba-vhk158")};
    workload.speculations = sim::chains_up_to(4);
    workload.speculations.push_back({tree_of_16, sim::Verification::packed, "tree of 16"});
    workload.traffic = traffic_from({{1, 1.0}}, {{2048, 1.0}});
    workload.objective = objective;
    return workload;
}

sim::fpga::RoundCost by_hand(const std::string& design) {
    const sim::Accelerator accelerator = *accelerated(design).accelerator;
    const sim::fpga::TreeWork work = sim::fpga::tree_work(sim::build_tree(tree_of_16, sim::RankAcceptance()),
                                                          accelerator.design.ssm.rules, sim::fpga::Backtracking::hybrid);
    return sim::fpga::round_cost(accelerator.board, accelerator.design, sim::fpga::shape_of(model("mamba2-2.7b")),
                                 sim::fpga::shape_of(model("mamba2-370m")), work, accept_length, {});
}

const Candidate& best_on(const Recommendation& answer, const std::string& device) {
    const std::vector<DeviceChoice> choices = best_of_each_device(answer);
    const auto found =
        std::find_if(choices.begin(), choices.end(), [&](const DeviceChoice& choice) { return choice.platform == device; });
    REQUIRE(found != choices.end());
    return *found->best;
}

const std::string& chosen_device(const Recommendation& answer) {
    return answer.variants[answer.candidates.front().variant].labels.device;
}

}  // namespace

TEST_CASE("An H100 is recommended for tokens/s over both SpecMamba boards, each with the rate of the FPGA model") {
    const RecommendationResult result = recommend(workload_of(Objective::throughput), 1);
    REQUIRE(result.recommendation);
    CHECK(chosen_device(*result.recommendation) == "h100-sxm");
    for (const char* design : {"specmamba-vck190", "specmamba-vhk158"}) {
        const Candidate& best = best_on(*result.recommendation, design);
        const sim::fpga::RoundCost cost = by_hand(design);
        CHECK(best.draft_tokens == 15);
        CHECK(best.tokens_per_second_device == Approx(cost.tokens_per_second).epsilon(1e-12));
        CHECK(best.speedup == Approx(cost.speedup).epsilon(1e-12));
        CHECK(best.energy_per_token.value() == Approx(1.0 / cost.tokens_per_joule).epsilon(1e-12));
        CHECK(best.tokens_per_second_device < best_on(*result.recommendation, "h100-sxm").tokens_per_second_device);
    }
}

TEST_CASE("A design on a larger board is priced: what it computes comes from its units, however fast the memory") {
    for (const char* board : {"v80", "u280", "u50", "vhk158"}) {
        sim::RoundSetup setup = variant_on("lightmamba-vck190").setup;
        setup.platform = hardware::load_hardware(source_folder() / "hardware", board, "lightmamba-vck190").value;
        INFO(board);
        CHECK(problems_of(setup).empty());
        CHECK(sim::evaluate(sim::compile_round(setup), {0, 1.0, 1024.0}).time_per_token > Seconds(0.0));
    }
}

TEST_CASE("What is unknown of an accelerator is its memory's bandwidth and its clock, either way") {
    const sim::RoundSetup setup = variant_on("specmamba-vhk158").setup;
    const std::vector<UncertainRound> inputs = uncertain_rounds(setup);
    REQUIRE(inputs.size() == 3);
    const auto step = [](const sim::CompiledRound& round) { return sim::evaluate(round, {0, 1.0, 1024.0}).round.value(); };
    const double stated = step(sim::compile_round(setup));
    for (std::size_t i = 0; i < 2; ++i) {  // the lower end of a rate is the longer time
        CAPTURE(inputs[i].input);
        CHECK(step(inputs[i].low) >= stated * (1.0 - 1e-9));
        CHECK(step(inputs[i].high) <= stated * (1.0 + 1e-9));
        CHECK(step(inputs[i].low) < 1.4 * step(inputs[i].high));  // 110 over 80 % of the clock, 95 over 74 of the bandwidth
    }
    CHECK(step(inputs[1].low) > 1.05 * step(inputs[1].high));  // a step waits for the clock
    CHECK(inputs[2].of_acceptance);
}

TEST_CASE("For tokens/J the device with the least energy of all three is recommended") {
    const RecommendationResult result = recommend(workload_of(Objective::energy), 1);
    REQUIRE(result.recommendation);
    const Recommendation& answer = *result.recommendation;
    std::string least;
    double energy = 1e9;
    for (const char* device : {"h100-sxm", "specmamba-vck190", "specmamba-vhk158"}) {
        const double on_it = best_on(answer, device).energy_per_token.value();
        CHECK(on_it > 0.0);
        if (on_it < energy) {
            energy = on_it;
            least = device;
        }
    }
    CHECK(chosen_device(answer) == least);
    CHECK(1.0 / best_on(answer, "specmamba-vhk158").energy_per_token.value() ==
          Approx(by_hand("specmamba-vhk158").tokens_per_joule).epsilon(1e-12));
    // 330 tokens/s at 38 W against 2.8 tokens/J: the larger board needs less for a token.
    CHECK(best_on(answer, "specmamba-vhk158").energy_per_token < best_on(answer, "specmamba-vck190").energy_per_token);
}

TEST_CASE("An accelerator's schedule never switches off, and its interval follows from its design") {
    Workload workload = workload_of(Objective::throughput);
    workload.variants = {variant_on("specmamba-vhk158")};
    const RecommendationResult result = recommend(workload, 1);
    REQUIRE(result.recommendation);
    const Recommendation& answer = *result.recommendation;
    REQUIRE(answer.speculate);
    // Weights take 1.6 of 32 GB and a sequence's committed states 59 MB; near the end only smaller drafts find room.
    CHECK(answer.schedule.entries.front().draft_tokens == 15);
    CHECK(answer.schedule.largest_batch > 450);
    CHECK(answer.schedule.end_limit == Limit::memory);
    CHECK_FALSE(answer.schedule.switch_off_batch);
    const Candidate& best = answer.candidates.front();
    const GainInterval interval =
        gain_interval(answer.variants[best.variant].setup, best.speculation, workload.traffic, workload.objective);
    CHECK(interval.value == Approx(by_hand("specmamba-vhk158").speedup).epsilon(1e-12));
    CHECK(interval.low < interval.value);
    CHECK(interval.high >= interval.value);
    REQUIRE(interval.inputs.size() == 3);
}

TEST_CASE("What an accelerator cannot run is excluded with its reason, and the search goes on") {
    Workload workload = workload_of(Objective::throughput);
    Variant ngram = variant_on("specmamba-vck190");
    ngram.setup.drafter = sim::NgramDrafter{};
    ngram.labels.drafter = "ngram";
    ngram.origin = origin_of(ngram.labels);
    Variant hybrid = variant_on("specmamba-vhk158", "bamba-9b");
    workload.variants.push_back(ngram);
    workload.variants.push_back(hybrid);
    const RecommendationResult result = recommend(workload, 1);
    REQUIRE(result.recommendation);
    const auto reason = [&](const std::string& label) {
        for (const Exclusion& exclusion : result.excluded) {
            if (exclusion.label == label) {
                return exclusion.reason;
            }
        }
        return std::string();
    };
    CHECK(reason(ngram.labels.text()).find("drafts with a Mamba-2 model of its own, not by 'ngram'") != std::string::npos);
    CHECK(reason("plain decoding on specmamba-vhk158").find("bamba-9b is not one") != std::string::npos);
    CHECK(chosen_device(*result.recommendation) == "h100-sxm");
}

TEST_CASE("A sweep over GPUs and accelerators writes a row for each, and none for designs that exceed their board") {
    DesignSpace space;
    space.variants = {variant_on("h100-sxm"), variant_on("specmamba-vck190")};
    Variant too_large = variant_on("specmamba-vhk158");
    too_large.setup.platform.accelerator->board = accelerated("specmamba-vck190").accelerator->board;
    space.variants.push_back(too_large);
    space.speculations = workload_of(Objective::throughput).speculations;
    space.speculation = {0, 4, 5};
    space.batch = {1.0, 4.0};
    space.context = {1024.0};
    const SweepSummary summary = run_sweep(space, {});
    CHECK(summary.points == 2 * 3 * 2);
    REQUIRE(summary.excluded.size() == 1);
    CHECK(summary.excluded.front().reason == "design specmamba-vhk158 needs 5,092 DSPs, 3,124 more than the 1,968 of vck190");
}

}  // namespace accelerator_recommend_test
