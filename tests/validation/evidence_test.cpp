// What numbers were fitted to is on record: every number of the catalogue that a description calls fitted is one that a fit of
// validation/fits frees, or that validation/serving/evidence.json lists with what fed it; what a fit of speed-ups reads is
// listed there, too; and rows of such a source never count as unseen.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "fit_file.h"
#include "requests/validate/name_table_reader.h"
#include "requests/validate/serving_parts.h"
#include "source_folder.h"
#include "validation/serving/families.h"
#include "validation/serving/points.h"

namespace evidence_test {

using namespace treeline;
using namespace treeline::validation;
using testing::FitFile;
using testing::FitNumber;
using testing::FitSource;

namespace {

namespace fs = std::filesystem;

/// A number that a description calls fitted: "stacks/vllm-0.10", "calibrated.linear_speed.fp8.memory".
struct Fitted {
    std::string owner, key, source;

    /// As the ledger writes it, by the file's own key.
    [[nodiscard]] std::string entry() const { return owner + ": " + key.substr(0, key.find('.')); }
};

void add_fitted(const nlohmann::json& json, const std::string& owner, const std::string& path, std::vector<Fitted>& numbers) {
    if (json.is_object() && json.value("kind", "") == "fitted") {
        numbers.push_back({owner, path, json.value("source", "")});
    }
    for (const auto& [key, value] : json.items()) {
        if (value.is_structured()) {
            add_fitted(value, owner, path.empty() ? key : path + "." + key, numbers);
        }
    }
}

std::vector<Fitted> fitted_numbers() {
    std::vector<Fitted> numbers;
    for (const char* folder : {"stacks", "attention_kernels", "expert_kernels", "gpu"}) {
        for (const auto& entry : fs::directory_iterator(testing::source_folder() / "hardware" / folder)) {
            std::ifstream stream(entry.path());
            add_fitted(nlohmann::json::parse(stream), folder + ("/" + entry.path().stem().string()), "", numbers);
        }
    }
    return numbers;
}

/// Whether the fit frees the number for its owner, or for the one from which a description took it over ("as vllm-0.12: …").
bool frees(const FitFile& fit, const Fitted& number) {
    return std::any_of(fit.numbers.begin(), fit.numbers.end(), [&](const FitNumber& free) {
        const std::string as = number.source.starts_with("as ") ? number.source.substr(3, number.source.find(':') - 3) : "";
        const std::string other = number.owner.substr(0, number.owner.find('/') + 1) + as;
        return free.key == number.key && (fits_any(free.of, number.owner) || fits_any(free.of, other));
    });
}

/// The fits that a source names: "treeline_fit engine: 125 runs of …".
std::string fit_named_in(const std::string& source) {
    constexpr std::string_view program = "treeline_fit ";
    const std::size_t at = source.find(program);
    const std::size_t begin = at + program.size();
    return at == std::string::npos ? "" : source.substr(begin, source.find_first_of(":,;) ", begin) - begin);
}

/// The ledger's entry of a number that a fit frees; collectives stand among the links of a device.
std::string entry_of(const std::string& owner, const std::string& key) {
    const bool of_link = key.starts_with("own_all_reduces.") || key.starts_with("gather.");
    return owner + ": " + (of_link ? "interconnects" : key.substr(0, key.find('.')));
}

std::vector<EvidenceEntry> evidence() {
    return requests::read_evidence(testing::source_folder() / "validation/serving/evidence.json");
}

bool is_recorded(const std::string& number, const std::string& citation) {
    const std::vector<EvidenceEntry> entries = evidence();
    return std::any_of(entries.begin(), entries.end(), [&](const EvidenceEntry& entry) {
        const auto has = [](const std::vector<std::string>& texts, const std::string& text) {
            return std::find(texts.begin(), texts.end(), text) != texts.end();
        };
        return has(entry.numbers, number) && (citation.empty() || has(entry.citations, citation));
    });
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

TEST_CASE("every number that is called fitted is fed by a fit or by an entry of the ledger") {
    const std::vector<Fitted> numbers = fitted_numbers();
    CHECK(numbers.size() > 80);
    for (const Fitted& number : numbers) {
        INFO(number.owner << ": " << number.key << ": " << number.source);
        const std::string name = fit_named_in(number.source);
        const std::vector<FitFile> fits = name.empty() ? std::vector<FitFile>{} : testing::fits_of(name);
        // Runs without speculation are scored with whole families left out; whatever else feeds a number is listed.
        const bool from_runs = std::any_of(fits.begin(), fits.end(), [&](const FitFile& fit) {
            return fit.rows.kind == FitSource::runs && frees(fit, number);
        });
        // Watts are fitted, and compared with the catalogue, by a program of their own; no speed-up feeds them.
        const bool from_watts = number.source.find("(treeline_energy") != std::string::npos;
        CHECK((from_runs || from_watts || is_recorded(number.entry(), "")));
    }
}

TEST_CASE("the ledger lists every source that a fit reads beside runs without speculation") {
    int listed = 0;
    for (const FitFile& fit : testing::fits_of("")) {
        if (fit.rows.kind == FitSource::runs) {
            continue;
        }
        CHECK_FALSE(fit.rows.citations.empty());
        for (const FitNumber& number : fit.numbers) {
            for (const std::string& owner : number.of) {
                for (const std::string& citation : fit.rows.citations) {
                    INFO(fit.name << " fits " << entry_of(owner, number.key) << " to rows of " << citation);
                    CHECK(is_recorded(entry_of(owner, number.key), citation));
                    ++listed;
                }
            }
        }
    }
    CHECK(listed >= 15);
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
    for (const EvidenceEntry& entry : evidence()) {
        CHECK_FALSE(entry.citations.empty());
        for (std::string citation : entry.citations) {
            INFO(citation);
            std::erase(citation, '*');
            CHECK(evidence_of(citation) == "sources that numbers were fitted to");
        }
    }
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
