// NVIDIA Model-Optimizer's speculation_profile.json (pull requests 2247, 2313, 2315, 2316): ships with a draft checkpoint.
// K leaves the root out; mean_accept_length = 1 + Σ marginal_accept_rates.
#include <cmath>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/acceptance/acceptance_file.h"
#include "text/input_error.h"
#include "text/parse_number.h"

namespace treeline::requests::acceptance_file {
namespace {

constexpr double rounding = 0.02;  ///< of printed means against the sum of printed rates

std::vector<double> rates(const FileJson& json, const char* key, const std::string& name) {
    std::vector<double> values;
    const FileJson list = json.value(key, FileJson::array());
    for (const FileJson& value : list) {
        if (!value.is_number() || value.get<double>() < 0.0 || value.get<double>() > 1.0) {
            throw text::InputError({fmt::format("{}: {} must hold rates between 0 and 1", name, key)});
        }
        values.push_back(value.get<double>());
    }
    return values;
}

/// P(the first i drafts are all accepted): as given, or the products of the conditional rates.
std::vector<double> marginal_rates(const FileJson& json, const std::string& name) {
    std::vector<double> marginal = rates(json, "marginal_accept_rates", name);
    if (marginal.empty()) {
        double product = 1.0;
        for (const double rate : rates(json, "conditional_accept_rates", name)) {
            marginal.push_back(product *= rate);
        }
    }
    return marginal;
}

sim::MeasuredAcceptance profile_row(const std::string& category, int draft_tokens, const std::string& source) {
    sim::MeasuredAcceptance row;
    row.category = category;
    row.draft_tokens = draft_tokens;
    row.source = source;
    return row;
}

void check_mean(const FileJson& json, const std::vector<double>& marginal, const std::string& name) {
    double mean = 1.0;
    for (const double rate : marginal) {
        mean += rate;
    }
    const double stated = json.value("mean_accept_length", mean);
    if (!marginal.empty() && std::abs(stated - mean) > rounding * mean) {
        throw text::InputError(
            {fmt::format("{}: mean_accept_length is {:.3g}, but 1 + the sum of its rates is {:.3g}", name, stated, mean)});
    }
}

}  // namespace

std::optional<AcceptanceFile> speculation_profile(const FileJson& json, const std::string& name) {
    if (!json.is_object() || !(json.contains("marginal_accept_rates") || json.contains("conditional_accept_rates") ||
                               json.contains("accept_length_by_k"))) {
        return std::nullopt;
    }
    AcceptanceFile file;
    file.format = "speculation profile";
    file.only_measured = json.value("accept_length_model", "") == "measured_per_k";
    file.most_draft_tokens = json.contains("max_supported_k") && json["max_supported_k"].is_number_integer()
                                 ? json["max_supported_k"].get<int>()
                                 : 0;
    const std::string source = fmt::format("{}{}", name,
                                           json.contains("draft_checkpoint") && json["draft_checkpoint"].is_string()
                                               ? " of " + json["draft_checkpoint"].get<std::string>()
                                               : "");
    const std::vector<double> marginal = marginal_rates(json, name);
    check_mean(json, marginal, name);
    const int stated = json.contains("num_speculative_tokens") && json["num_speculative_tokens"].is_number_integer()
                           ? json["num_speculative_tokens"].get<int>()
                           : static_cast<int>(marginal.size());
    std::vector<sim::MeasuredAcceptance> rows;
    const FileJson by_k = json.value("accept_length_by_k", FileJson::object());
    for (const auto& [k, length] : by_k.items()) {
        sim::MeasuredAcceptance row = profile_row("mixed", text::parse_number<int>(k).value_or(0), source);
        row.accept_length = length.is_number() ? length.get<double>() : 0.0;
        if (row.draft_tokens < 1 || row.accept_length < 1.0 || row.accept_length > row.draft_tokens + 1.0) {
            throw text::InputError({fmt::format("{}: accept_length_by_k says {} at {}", name, length.dump(), k)});
        }
        rows.push_back(row);
    }
    if (!marginal.empty() && !(file.only_measured && !rows.empty())) {
        rows.push_back(profile_row("mixed", static_cast<int>(marginal.size()), source));
        rows.back().per_position = marginal;
    }
    const FileJson by_category = json.value("per_category", FileJson::object());
    for (const auto& [category, part] : by_category.items()) {
        if (part.contains("mean_accept_length") && stated > 0) {
            rows.push_back(profile_row(category, stated, source));
            rows.back().accept_length = part["mean_accept_length"].get<double>();
        }
    }
    if (rows.empty()) {
        throw text::InputError({fmt::format("{}: holds neither rates by position nor accept lengths", name)});
    }
    file.models.emplace_back(json.value("target_model", ""), rows);
    return file;
}

}  // namespace treeline::requests::acceptance_file
