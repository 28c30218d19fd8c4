// Acceptance histograms: entry j counts the steps that accepted exactly j drafts, so a_i = P(accepted ≥ i). Steps without a
// draft are left out by the engines. Read in vLLM's metrics of a request (docs/…/acceptance_metrics.md @02cf515f),
// TensorRT-LLM's and SGLang's, and in aiperf's SpecDecodeAcceptanceRecord, whose histogram is sparse ({"0": 39, "3": 3}).
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/acceptance/acceptance_file.h"
#include "sim/input_limits.h"
#include "text/input_error.h"
#include "text/parse_number.h"

namespace treeline::requests::acceptance_file {
namespace {

/// Steps by accepted drafts.
using Counts = std::map<int, double>;

const char* const histogram_keys[] = {"acceptance_histogram", "acceptance_length_histogram", "spec_correct_drafts_histogram",
                                      "spec_accept_histogram"};

/// The object within a response that holds the histogram.
const FileJson* holder(const FileJson& json) {
    if (!json.is_object()) {
        return nullptr;
    }
    for (const char* key : histogram_keys) {
        if (json.contains(key)) {
            return &json;
        }
    }
    for (const char* key : {"metrics", "speculative_decoding", "spec_decode", "spec_decode_acceptance", "meta_info"}) {
        if (json.contains(key)) {
            if (const FileJson* inside = holder(json[key])) {
                return inside;
            }
        }
    }
    return nullptr;
}

Counts counts_of(const FileJson& histogram, const std::string& name) {
    Counts counts;
    int next = 0;
    for (const auto& [key, value] : histogram.items()) {
        const int accepted = histogram.is_array() ? next++ : text::parse_number<int>(key).value_or(-1);
        if (accepted < 0 || accepted > sim::most_draft_tokens || !value.is_number() || value.get<double>() < 0.0) {
            throw text::InputError(
                {fmt::format("{}: a histogram must count steps by accepted drafts, not {}", name, histogram.dump())});
        }
        counts[accepted] += value.get<double>();
    }
    return counts;
}

/// The number of drafts of every step, where the record states it.
int drafts_of(const FileJson& json, const Counts& counts) {
    for (const char* key : {"num_spec_tokens", "num_speculative_tokens"}) {
        if (json.contains(key) && json[key].is_number_integer()) {
            return json[key].get<int>();
        }
    }
    return counts.empty() ? 0 : counts.rbegin()->first;
}

void add_histogram(std::map<int, Counts>& by_length, const FileJson& json, const std::string& name) {
    if (json.contains("acceptance_histogram_by_draft_length") && json["acceptance_histogram_by_draft_length"].is_object()) {
        for (const auto& [length, histogram] : json["acceptance_histogram_by_draft_length"].items()) {
            for (const auto& [accepted, steps] : counts_of(histogram, name)) {
                by_length[text::parse_number<int>(length).value_or(0)][accepted] += steps;
            }
        }
        return;
    }
    for (const char* key : histogram_keys) {
        if (json.contains(key)) {
            const Counts counts = counts_of(json[key], name);
            for (const auto& [accepted, steps] : counts) {
                by_length[drafts_of(json, counts)][accepted] += steps;
            }
            return;
        }
    }
}

sim::MeasuredAcceptance row_of(int drafts, const Counts& counts, const std::string& name) {
    sim::MeasuredAcceptance row;
    row.category = "mixed";
    row.draft_tokens = drafts;
    row.source = name;
    double total = 0.0;
    for (const auto& [accepted, steps] : counts) {
        total += steps;
        if (accepted > drafts && steps > 0.0) {
            throw text::InputError({fmt::format("{}: {} drafts cannot have {} of them accepted", name, drafts, accepted)});
        }
    }
    double left = total;
    for (int i = 1; i <= drafts; ++i) {
        const auto found = counts.find(i - 1);
        left -= found == counts.end() ? 0.0 : found->second;
        row.per_position.push_back(total > 0.0 ? std::max(0.0, left / total) : 0.0);
    }
    row.runs = std::max(1.0, total);
    return row;
}

}  // namespace

std::optional<AcceptanceFile> histograms(const std::vector<FileJson>& objects, const std::string& name) {
    std::map<int, Counts> by_length;
    double requests = 0.0;
    for (const FileJson& object : objects) {
        if (const FileJson* json = holder(object)) {
            add_histogram(by_length, *json, name);
            requests += 1.0;
        }
    }
    if (requests == 0.0) {
        return std::nullopt;
    }
    std::vector<sim::MeasuredAcceptance> rows;
    for (const auto& [drafts, counts] : by_length) {
        if (drafts > 0) {
            rows.push_back(row_of(drafts, counts, name));
            rows.back().samples = requests;
        }
    }
    if (rows.empty()) {
        throw text::InputError({fmt::format("{}: its histograms count no step with a draft", name)});
    }
    AcceptanceFile file;
    file.format = "acceptance histograms";
    file.models.emplace_back("", rows);
    return file;
}

}  // namespace treeline::requests::acceptance_file
