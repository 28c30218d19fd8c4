// Does the report compare devices fairly: the Pareto set at each batch by brute force, and nothing where there is one device?
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "hardware/accelerators.h"
#include "origins.h"
#include "reports/device_figures.h"
#include "setups.h"

namespace device_figures_test {

using namespace treeline;
using namespace treeline::reports;
using namespace treeline::testing;

namespace {

sweeps::Variant chains_on(const std::string& device) {
    sim::Platform where = hardware::load_hardware(source_folder() / "hardware", device, "").value;
    if (!where.accelerator) {
        where.stack = stack("cuda-graph");
    }
    sweeps::Variant variant;
    variant.setup = pair_setup("mamba2-2.7b", "mamba2-370m", where);
    variant.labels = {"mamba2-2.7b", "as published", device, where.stack.name, "", "mamba2-370m", "replay", 1};
    variant.origin = origin_of(variant.labels);
    return variant;
}

sweeps::Workload workload_on(const std::vector<std::string>& devices) {
    sweeps::Workload workload;
    for (const std::string& device : devices) {
        workload.variants.push_back(chains_on(device));
    }
    workload.speculations = sim::chains_up_to(6);
    workload.traffic = sweeps::traffic_from({{1, 1.0}}, {{2048, 1.0}});
    workload.objective = sweeps::Objective::energy;
    return workload;
}

}  // namespace

TEST_CASE("The chart of devices marks what no other configuration of the batch beats in both") {
    const sweeps::Workload workload = workload_on({"h100-sxm", "b200", "specmamba-vhk158"});
    const sweeps::RecommendationResult result = recommend(workload, 1);
    REQUIRE(result.recommendation);
    const std::optional<FigureSection> section = device_section(workload, *result.recommendation);
    REQUIRE(section);
    REQUIRE(section->figures.size() == 2);
    const nlohmann::ordered_json& rows = section->figures.front().rows;
    // Three devices, plain and with a drafter, at batches 1, 2, …, 64.
    CHECK(rows.size() == 3 * 2 * 7);
    for (const auto& row : rows) {
        bool beaten = false;
        for (const auto& other : rows) {
            const bool as_fast = other["tokens_per_s"] >= row["tokens_per_s"];
            const bool as_frugal = other["tokens_per_j"] >= row["tokens_per_j"];
            const bool better = other["tokens_per_s"] > row["tokens_per_s"] || other["tokens_per_j"] > row["tokens_per_j"];
            beaten = beaten || (other["batch"] == row["batch"] && as_fast && as_frugal && better);
        }
        CHECK(row["beaten"].get<bool>() == beaten);
    }
}

TEST_CASE("The sentence compares every other device with the recommended one") {
    const sweeps::Workload workload = workload_on({"h100-sxm", "specmamba-vhk158", "specmamba-vck190"});
    const sweeps::RecommendationResult result = recommend(workload, 1);
    REQUIRE(result.recommendation);
    const std::vector<sweeps::DeviceChoice> choices = sweeps::best_of_each_device(*result.recommendation);
    REQUIRE(choices.size() == 3);
    const std::string sentence = device_sentence(workload, *result.recommendation);
    CHECK(sentence.find(choices[0].platform + " is the best device for energy per token: " + choices[1].platform) == 0);
    CHECK(sentence.find(choices[2].platform + " reaches") != std::string::npos);
    CHECK(choices[0].best->energy_per_token <= choices[1].best->energy_per_token);
    CHECK(choices[1].best->energy_per_token <= choices[2].best->energy_per_token);
}

TEST_CASE("One device alone is not compared, nor are devices whose energy is unknown") {
    const sweeps::Workload alone = workload_on({"specmamba-vhk158"});
    const sweeps::RecommendationResult result = recommend(alone, 1);
    REQUIRE(result.recommendation);
    CHECK(device_sentence(alone, *result.recommendation).empty());
    CHECK_FALSE(device_section(alone, *result.recommendation));

    sweeps::Workload unknown = workload_on({"h100-sxm", "specmamba-vhk158"});
    unknown.objective = sweeps::Objective::throughput;
    unknown.variants[0].setup.platform.device.idle_power = Watts(0.0);
    unknown.variants[0].setup.platform.device.active_power = Watts(0.0);
    unknown.variants[0].setup.platform.device.energy_per_byte = JoulesPerByte(0.0);
    unknown.variants[0].setup.platform.device.energy_per_flop = JoulesPerFlop(0.0);
    const sweeps::RecommendationResult second = recommend(unknown, 1);
    REQUIRE(second.recommendation);
    CHECK(device_sentence(unknown, *second.recommendation).find("tokens/J") == std::string::npos);
    const std::optional<FigureSection> section = device_section(unknown, *second.recommendation);
    REQUIRE(section);
    for (const auto& row : section->figures.front().rows) {
        CHECK(row["device"] == "specmamba-vhk158");
    }
}

}  // namespace device_figures_test
