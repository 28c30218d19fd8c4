// What numbers were fitted to is on record: every number of a stack or kernel that a description calls fitted to speed-ups is
// named by validation/serving/evidence.json, and rows of such a source never count as unseen.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "requests/validate/name_table_reader.h"
#include "requests/validate/serving_parts.h"
#include "source_folder.h"
#include "validation/serving/families.h"
#include "validation/serving/points.h"

namespace evidence_test {

using namespace treeline;
using namespace treeline::validation;

namespace {

namespace fs = std::filesystem;

/// Fits to runs without speculation, which are scored with whole families left out.
bool is_fitted_to_plain_steps(const std::string& source) {
    return source.find("treeline_fit engine") != std::string::npos || source.find("treeline_fit mixture") != std::string::npos;
}

/// "stacks/vllm-0.10: host_per_round" of each top-level number that is fitted to speed-ups or by them.
void add_fitted(const fs::path& file, const std::string& folder, std::set<std::string>& numbers) {
    std::ifstream stream(file);
    const nlohmann::json json = nlohmann::json::parse(stream);
    for (const auto& [key, value] : json.items()) {
        const std::string text = value.dump();
        const bool fitted = text.find(R"("kind":"fitted")") != std::string::npos;
        if (fitted && !(value.contains("source") && is_fitted_to_plain_steps(value["source"])) && key != "linear_speed" &&
            key != "calibrated") {
            numbers.insert(folder + "/" + file.stem().string() + ": " + key);
        }
    }
}

/// Speculation of EAGLE-3 with three drafts at one request, on an engine and device to be set.
SpeculationRow one_request() {
    SpeculationRow row;
    row.drafter = "eagle3";
    row.draft_tokens = 3.0;
    row.batch = 1.0;
    row.batch_kind = "batch";
    row.speed_up = 2.0;
    row.is_pair = true;
    return row;
}

ServingParts parts_of_catalogue() {
    std::vector<std::string> notes;
    return requests::read_serving_parts(requests::catalogue_in(testing::source_folder(), "test"), {}, notes);
}

}  // namespace

TEST_CASE("every number that was fitted to speculative rows says to which") {
    std::set<std::string> fitted, recorded;
    for (const char* folder : {"stacks", "attention_kernels", "expert_kernels", "gpu"}) {
        for (const auto& entry : fs::directory_iterator(testing::source_folder() / "hardware" / folder)) {
            add_fitted(entry.path(), folder, fitted);
        }
    }
    for (const EvidenceEntry& entry : requests::read_evidence(testing::source_folder() / "validation/serving/evidence.json")) {
        CHECK_FALSE(entry.citations.empty());
        recorded.insert(entry.numbers.begin(), entry.numbers.end());
    }
    CHECK(fitted.size() > 15);
    for (const std::string& number : fitted) {
        INFO(number);
        CHECK(recorded.contains(number));
    }
}

TEST_CASE("rows of a source that fed a number are seen, all others are not") {
    const ServingParts parts = parts_of_catalogue();
    SpeculationRow row = one_request();
    row.model = "Llama-3.1-8B-Instruct";
    row.engine = "sglang";
    row.engine_version = "0.5.6";
    row.device = "H200";
    row.ranks.tensor = 1.0;
    row.metric = "speedup";
    const auto evidence_of = [&](const std::string& citation) {
        row.citation = citation;
        const MeasuredPoints read = points_of(std::vector<SpeculationRow>{row}, parts);
        REQUIRE(read.points.size() == 1);
        return group_of(read.points.front(), parts, Grouping::evidence);
    };
    CHECK(evidence_of("SpecForge SpecBundle performance dashboard data") == "sources that numbers were fitted to");
    CHECK(evidence_of("RTX6kPRO wiki GLM-5 page") == "sources that numbers were fitted to");
    CHECK(evidence_of("somebody's blog") == "sources that no number was fitted to");
    row.source = "a repository";
    CHECK(evidence_of("") == "sources that no number was fitted to");
}

TEST_CASE("accept lengths that a source prints are told from those that follow from rates or lie at a bound") {
    const ServingParts parts = parts_of_catalogue();
    SpeculationRow row = one_request();
    row.model = "Llama-3.1-8B-Instruct";
    row.engine = "sglang";
    row.device = "H200";
    row.ranks.tensor = 1.0;
    row.citation = "somebody's blog";
    row.draft_tokens = 3.0;
    row.tree_steps = row.tree_top_k = row.tree_size = std::nullopt;
    const auto group = [&](double length, bool printed) {
        row.accept_length = length;
        row.prints_accept_length = printed;
        const MeasuredPoints read = points_of(std::vector<SpeculationRow>{row}, parts);
        REQUIRE(read.points.size() == 1);
        return group_of(read.points.front(), parts, Grouping::reservations);
    };
    row.prompt_tokens = row.output_tokens = 500.0;
    CHECK(group(2.4, true) == "unseen: what matters is stated");
    CHECK(group(2.4, false) == "unseen: accept length derived from rates or a range");
    CHECK(group(1.0, true) == "unseen, apart: accept length at a bound");
    CHECK(group(4.0, false) == "unseen, apart: accept length at a bound");
    row.series = "qwen38-27b-2xh20";  // "Why MTP is off": a kernel problem
    CHECK(group(2.4, true) == "unseen, apart: runs that they call defective");
    row.series = "syvai-qwen38-3090/mtp4";  // "batch config without speculation"
    CHECK(group(2.4, true) == "unseen, apart: runs that differ in more than speculation, they say");
    row.series = "inventivehq/5060ti-7b/vulkan/draft_0_5b";  // kernels that no stack describes
    CHECK(group(2.4, true) == "unseen: engine without a stack of its own");
    row.citation = "RTX6kPRO wiki GLM-5 page";  // rows that numbers were fitted to have no group here
    CHECK(group(2.4, true).empty());
}

TEST_CASE("a row that does not say how many devices ran it has those whose plain step comes nearest") {
    const ServingParts parts = parts_of_catalogue();
    SpeculationRow row = one_request();
    row.model = "Qwen3-32B";
    row.engine = "vllm";
    row.engine_version = "0.12.0";
    row.device = "H100";
    row.format = "bf16";
    row.metric = "tpot_ms";
    row.prompt_tokens = 1000.0;
    row.output_tokens = 500.0;
    const auto devices_at = [&](double plain_ms) {
        row.value_without = plain_ms;
        const MeasuredPoints read = points_of(std::vector<SpeculationRow>{row}, parts);
        REQUIRE(read.points.size() == 1);
        CHECK(read.points.front().assumed == std::vector<std::string>{"devices"});
        return read.points.front().cut.devices();
    };
    // 65.5 GB of weights at 3.35 TB/s take 19.6 ms on one device, which holds them; engines reach 88 % of that.
    CHECK(devices_at(24.0) == 1.0);
    CHECK(devices_at(13.0) == 2.0);
    CHECK(devices_at(8.0) >= 4.0);
    // What speculation gained is not looked at.
    row.speed_up = 0.5;
    CHECK(devices_at(13.0) == 2.0);
}

}  // namespace evidence_test
