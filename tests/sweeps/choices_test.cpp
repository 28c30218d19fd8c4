// What answers call platforms by, which stack and mode a platform has that names none, and which variants lists make.
#include <catch2/catch.hpp>

#include <algorithm>

#include "hardware/accelerators.h"
#include "recommend_workloads.h"
#include "setups.h"
#include "sweeps/recommend.h"
#include "sweeps/settled_row.h"
#include "sweeps/variants.h"

namespace choices_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

TEST_CASE(
    "the stack of a device that names none: that of CPUs, its usual one, that of its kernels' language, or the general one") {
    sim::Device device;
    CHECK(default_stack(device) == "cuda-graph");
    device.metal = true;
    CHECK(default_stack(device) == "llama.cpp");
    device.usual_stack = "vllm";
    CHECK(default_stack(device) == "vllm");
    device.kind = sim::DeviceKind::cpu;
    CHECK(default_stack(device) == "cpu");
}

TEST_CASE("a platform is priced by measured kernels only where the stack was fitted with their laws") {
    sim::Platform platform = testing::platform("h100-sxm", "cuda-graph");
    for (const bool measured : {false, true}) {
        for (const bool fitted : {false, true}) {
            platform.device.calibration = measured ? device("h100-sxm").calibration : std::nullopt;
            platform.stack.kernels.calibrated = fitted ? std::optional(sim::CalibratedNumbers{}) : std::nullopt;
            REQUIRE(platform.device.calibration.has_value() == measured);
            CHECK(default_mode(platform) == (measured && fitted ? sim::CostMode::calibrated : sim::CostMode::roofline));
        }
    }
}

TEST_CASE(
    "several devices are called by their link, and by how they share the model where tensor parallelism does not say it") {
    sim::Platform platform = testing::platform("h100-sxm", "cuda-graph", 8.0);
    platform.mode = default_mode(platform);
    CHECK(label_of(platform) == "8 x h100-sxm (nvlink), cuda-graph");
    platform.ranks = 2.0;
    platform.parallel.pipeline = 4.0;
    CHECK(label_of(platform) == "8 x h100-sxm (nvlink; tensor 2, pipeline 4), cuda-graph");
    platform.device.interconnects.front().domain = 4.0;  // the next link joins eight
    CHECK_THAT(label_of(platform),
               Catch::Matches("8 x h100-sxm \\([a-z0-9-]+, as nvlink joins 4 devices; tensor 2, pipeline 4\\), .*"));
    platform.interconnect = "none such";
    CHECK(label_of(platform) == "8 x h100-sxm (tensor 2, pipeline 4), cuda-graph");
    platform.parallel = {};
    CHECK(label_of(platform) == "2 x h100-sxm, cuda-graph");
    platform.ranks = 1.0;
    CHECK(label_of(platform) == "h100-sxm, cuda-graph");
}

TEST_CASE("an accelerator computes in formats of its own, so that it is priced for the first precision of a model") {
    const sim::Model mamba = model("mamba2-2.7b"), small = model("mamba2-1.3b");
    VariantLists lists;
    lists.targets = {{mamba, mamba.precision, "mamba2-2.7b", "as published"},
                     {small, small.precision, "mamba2-1.3b", "as published"},
                     {mamba, mamba.precision, "mamba2-2.7b (fp8)", "fp8"}};
    lists.platforms = {platform("h100-sxm", "cuda-graph"),
                       hardware::load_hardware(source_folder() / "hardware", "specmamba-vck190", "").value};
    std::vector<std::pair<std::size_t, std::size_t>> made;  // target and platform
    for (const Variant& variant : plain_variants(lists)) {
        made.emplace_back(variant.origin.target, variant.origin.platform);
    }
    CHECK(made == std::vector<std::pair<std::size_t, std::size_t>>{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}});
}

TEST_CASE("a problem that several platforms have is told once") {
    VariantLists lists;
    lists.targets = {{model("llama-3-8b"), model("llama-3-8b").precision, "llama-3-8b", "bf16"}};
    const auto problems_with = [&](const std::vector<sim::Platform>& platforms) {
        lists.platforms = platforms;
        return plain_problems(plain_variants(lists));
    };
    const sim::Platform three = platform("h100-sxm", "vllm", 3.0), five = platform("h100-sxm", "vllm", 5.0);  // of 32 heads
    const std::vector<std::string> of_three = problems_with({three}), of_five = problems_with({five});
    REQUIRE_FALSE(of_three.empty());
    CHECK(problems_with({three, platform("h100-sxm", "cuda-graph", 3.0)}) == of_three);
    CHECK(problems_with({three, five}).size() == of_three.size() + of_five.size());
    CHECK(problems_with({platform("h100-sxm", "vllm", 4.0)}).empty());
}

TEST_CASE("a workload without shapes is refused, and one whose variants differ in their rollback alone is not") {
    Workload workload = llama_workload();
    Variant other = workload.variants.front();
    other.labels.rollback = "snapshot";
    workload.variants.push_back(other);
    workload.variants.push_back(workload.variants.front());
    CHECK(problems_of(workload).empty());
    workload.variants.back().labels.drafter = "another";
    REQUIRE(problems_of(workload).size() == 1);
    CHECK_THAT(problems_of(workload).front(), Catch::Contains("state the same origin"));
    workload = llama_workload();
    workload.speculations.clear();
    CHECK(problems_of(workload) == std::vector<std::string>{"the axis 'draft_tokens' has no values"});
}

TEST_CASE("loads beyond what anybody means are refused in the words of their kind") {
    DesignSpace space;
    space.variants = llama_workload().variants;
    for (Variant& variant : space.variants) {
        variant.setup.output_tokens = 100.0;
    }
    space.speculation = {0};
    space.context = {0.0};
    const auto problem = [&](LoadKind kind, double load) {
        space.kind = kind;
        space.batch = {load};
        const std::vector<std::string> problems = space.problems();
        REQUIRE(problems.size() <= 1);
        return problems.empty() ? std::string() : problems.front();
    };
    const std::string rates = "every arrival rate must lie above 0 and at most at 1,000,000,000 requests/s";
    CHECK(problem(LoadKind::arrival_rate, 0.0) == rates);
    CHECK(problem(LoadKind::arrival_rate, 1e-6).empty());
    CHECK(problem(LoadKind::arrival_rate, 1e9).empty());
    CHECK(problem(LoadKind::arrival_rate, 1.1e9) == rates);
    const std::string batches = "every batch must lie between 1 and 1,000,000 sequences",
                      requests = "every concurrency must lie between 1 and 1,000,000 requests";
    for (const LoadKind kind : {LoadKind::batch, LoadKind::concurrency}) {
        const std::string& refused = kind == LoadKind::batch ? batches : requests;
        CHECK(problem(kind, 0.9) == refused);
        CHECK(problem(kind, 1.0).empty());
        CHECK(problem(kind, 1e6).empty());
        CHECK(problem(kind, 1e6 + 1.0) == refused);
    }
}

TEST_CASE("plain decoding under a load gains nothing over itself") {
    sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm"));
    setup.prompt_tokens = 700.0;
    setup.output_tokens = 300.0;
    const sim::CompiledRound round = sim::compile_round(setup);
    const Load load{LoadKind::concurrency, 8.0};
    CHECK(estimate_of_load(round, 0, load, 850.0, settle(round, 0, load, 850.0)).gain == 1.0);
    CHECK(estimate_of_load(round, 3, load, 850.0, settle(round, 3, load, 850.0)).gain > 1.0);
}

}  // namespace choices_test
