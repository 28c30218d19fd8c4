// The facade says what the studies behind it say; the program and the Python module are held against it elsewhere
// (tests/python).
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <tuple>

#include <nlohmann/json.hpp>

#include "source_folder.h"
#include "text/catalogue_folder.h"
#include "treeline/treeline.h"

namespace facade_test {

using namespace treeline;
using namespace treeline::testing;

namespace {

const char* const axes = R"({"axes": {"target": "llama-3.1-8b", "device": ["h100-sxm", "l40s"], "stack": "vllm",
    "drafter": [{"kind": "ngram", "acceptance": {"geometric": 0.5}}], "draft_tokens": {"from": 1, "to": 8},
    "batch": {"from": 1, "to": 64}, "context": {"from": 0, "to": 4096, "step": 64}},
    "conditions": [{"require": "batch * draft_tokens <= 100 && context != 640"}]})";

}  // namespace

TEST_CASE("a point of structs is priced as the same point of a file") {
    const EstimateAnswer from_text =
        estimate_json(R"({"target": "llama-3-8b", "platform": "h100-sxm", "batch": 4, "context": 1024})");
    sweeps::PointInput input;
    input.target = find_target("llama-3-8b");
    input.platform = find_platform("h100-sxm");
    input.speculations = sim::chains_up_to(0);
    input.batch = 4;
    input.context = input.prompt_tokens = 1024;
    const EstimateAnswer from_structs = estimate(input);
    CHECK(from_structs.plain.time_per_token.value() == from_text.plain.time_per_token.value());
    CHECK(from_structs.plain_first_token.value() == from_text.plain_first_token.value());
    CHECK(nlohmann::json::parse(as_json(from_text))["input"]["batch"] == 4);
    CHECK(nlohmann::json::parse(as_json(from_structs))["input"].is_null());
}

TEST_CASE("a workload of structs is answered as the same workload of a file") {
    const WorkloadAnswer from_text = recommend_json(R"({"target": "llama-3.1-8b", "platforms": ["h100-sxm"], "draft_tokens": 3,
        "drafters": [{"kind": "ngram", "acceptance": {"geometric": 0.5}}], "traffic": {"batch": [1, 8], "context": 2048}})");
    sweeps::VariantLists lists;
    lists.targets = {find_target("llama-3.1-8b")};
    lists.platforms = {find_platform("h100-sxm")};
    sweeps::DrafterChoice ngram;
    ngram.label = "ngram";
    ngram.drafter = sim::NgramDrafter{};
    ngram.acceptance = sim::Acceptance::geometric(0.5);
    lists.drafters = {ngram};
    sweeps::Workload workload;
    workload.speculations = {sim::chains_up_to(3).front(), sim::chains_up_to(3).back()};
    workload.traffic = sweeps::traffic_from({{1, 1.0}, {8, 1.0}}, {{2048, 1.0}});
    const WorkloadAnswer from_structs = recommend(workload_of(lists, workload));

    const sweeps::Candidate& a = from_text.result.recommendation->candidates.front();
    const sweeps::Candidate& b = from_structs.result.recommendation->candidates.front();
    CHECK(a.gain == b.gain);
    CHECK(a.time_to_first_token.value() == b.time_to_first_token.value());  // of a prompt as long as the context
    CHECK(a.time_to_first_token.value() > 1e-3);
    CHECK(a.peak_memory.value() == b.peak_memory.value());
    CHECK(nlohmann::json::parse(as_json(from_text))["input"]["draft_tokens"] == 3);
}

TEST_CASE("a workload of structs names every problem at once") {
    sweeps::VariantLists lists;
    CHECK_THROWS_AS(workload_of(lists, {}), text::InputError);
    lists.targets = {find_target("llama-3-8b")};
    lists.platforms = {find_platform("h100-sxm")};
    lists.platforms.front().ranks = 3.0;  // 8 heads of keys and values do not divide by 3
    sweeps::DrafterChoice drafter;
    drafter.drafter = sim::NgramDrafter{};
    lists.drafters = {drafter};
    try {
        static_cast<void>(workload_of(lists, {}));  // no traffic either
        FAIL("accepted");
    } catch (const text::InputError& error) {
        CHECK(error.problems().size() >= 2);
    }
}

TEST_CASE("a sweep's table holds the points that its callback sees, without gaps") {
    sweeps::SweepInput input = sweep_input_json(axes);
    sweeps::SweepOptions options;
    options.threads = 3;
    std::atomic<std::size_t> seen = 0;
    options.visit = [&](const sweeps::SweepChunk& chunk) { seen += chunk.estimates.size(); };
    const SweepResult result = sweep(std::move(input), options, all_sweep_columns());
    REQUIRE(result.summary.dropped > 0);
    REQUIRE(result.table.points() == result.summary.points);
    CHECK(seen == result.summary.points);

    const auto batch = result.table.figures("batch");
    const auto context = result.table.figures("context");
    const auto draft_tokens = result.table.figures("draft_tokens");
    bool kept = true, ordered = true;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        kept &= batch[i] * draft_tokens[i] <= 100.0 && context[i] != 640.0;
        if (i > 0) {
            const auto key = [&](std::size_t at) {
                return std::tuple(result.table.variants()[at], context[at], batch[at], draft_tokens[at]);
            };
            ordered &= key(i - 1) < key(i);
        }
    }
    CHECK(kept);
    CHECK(ordered);
    // 1 + ... + 8 tokens at up to 64 users: sum over k of min(64, floor(100 / k)), for each of 2 devices and 64 of 65 contexts.
    CHECK(result.table.points() == 2 * 64 * (64 + 50 + 33 + 25 + 20 + 16 + 14 + 12));
    const auto speedup = result.table.figures("speedup");
    CHECK(result.summary.best.front().estimate.throughput_multiplier == *std::max_element(speedup.begin(), speedup.end()));
    CHECK_THROWS_AS(result.table.figures("speed"), std::out_of_range);
}

TEST_CASE("a sweep without columns keeps none") {
    const SweepResult result = sweep(sweep_input_json(axes));
    CHECK(result.summary.points > 0);
    CHECK(result.table.points() == 0);
    CHECK(result.table.fits().empty());
}

TEST_CASE("the catalogue is the environment's, else the first folder that holds one, else what the program carries") {
    const std::filesystem::path& source = source_folder();
    ::unsetenv("TREELINE_DATA");
    CHECK(requests::catalogue_among({"nowhere", source / "."}).models == source / "." / "models");
    CHECK(requests::catalogue_among({"nowhere"}).models == std::filesystem::path(text::builtin_folder) / "models");
    ::setenv("TREELINE_DATA", "nowhere", 1);
    CHECK_THROWS_WITH(requests::catalogue_among({source}), Catch::StartsWith("TREELINE_DATA: nowhere does not hold"));
    ::unsetenv("TREELINE_DATA");
    CHECK_THROWS_WITH(requests::catalogue_in("nowhere", "my setting"), Catch::StartsWith("my setting: nowhere"));
}

TEST_CASE("trees by name, with their accept length") {
    CHECK(find_tree("chain:3") == sim::DraftTree::from_parents({0, 1, 2}));
    // 1 + 0.6 + 0.2 + 0.6·0.6
    CHECK(accept_length(sim::DraftTree::from_parents({0, 0, 1}), std::vector<double>{0.6, 0.2}) == Approx(2.16));
    CHECK_THROWS_AS(accept_length(find_tree("chain:3"), std::vector<double>{0.9, 0.9}), text::InputError);
}

}  // namespace facade_test
