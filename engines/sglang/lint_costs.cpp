#include "engines/sglang/lint_costs.h"

#include <algorithm>
#include <functional>

#include "text/wording.h"

namespace treeline::engines::sglang {
namespace {

using Json = nlohmann::ordered_json;
using Kind = FindingKind;

/// A list of probes and one of what was measured at each.
struct CostColumns {
    const char* probes;
    const char* values;
    bool positive;  ///< values; else they may be 0
};

bool are_numbers(const Json& list) {
    return list.is_array() && !list.empty() &&
           std::all_of(list.begin(), list.end(), [](const Json& number) { return number.is_number(); });
}

void check_probes(const Json& costs, const char* key, Findings& findings) {
    const auto numbers = costs[key].get<std::vector<double>>();
    if (numbers.front() < 1.0) {
        findings.add(Kind::value, key, "must begin with 1 or more");
    }
    if (std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) != numbers.end()) {
        findings.add(Kind::value, key, "must grow strictly");
    }
}

void check_columns(const Json& costs, const CostColumns& columns, Findings& findings) {
    for (const char* key : {columns.probes, columns.values}) {
        if (!costs.contains(key)) {
            findings.add(Kind::missing, key, "is missing");
            return;
        }
        if (!are_numbers(costs[key])) {
            findings.add(Kind::value, key, "must be a list of numbers");
            return;
        }
    }
    check_probes(costs, columns.probes, findings);
    const auto values = costs[columns.values].get<std::vector<double>>();
    if (values.size() != costs[columns.probes].size()) {
        findings.add(Kind::contradiction, columns.values, std::string("must have as many numbers as ") + columns.probes);
    }
    if (std::any_of(values.begin(), values.end(),
                    [&](double value) { return columns.positive ? value <= 0.0 : value < 0.0; })) {
        findings.add(Kind::value, columns.values, columns.positive ? "must lie above 0" : "must not lie below 0");
    }
}

void check_bias(const Json& costs, Findings& findings) {
    if (!costs["bias_seconds"].is_number() || costs["bias_seconds"].get<double>() < 0.0) {
        findings.add(Kind::value, "bias_seconds", "must be a number of seconds");
    }
}

void check_most_tokens(const Json& costs, Findings& findings) {
    const char* key = "max_batch_tokens";
    if (!costs.contains(key)) {
        return;
    }
    if (!costs[key].is_number_integer() || costs[key].get<long long>() < 1) {
        findings.add(Kind::value, key, "must be a whole number of at least 1");
    } else if (const Json& samples = costs.value("sample_batch_tokens", Json());
               are_numbers(samples) && samples.back().get<double>() > costs[key].get<double>()) {
        findings.add(Kind::contradiction, key, "is less than the last of sample_batch_tokens");
    }
}

}  // namespace

bool is_costs(const Json& tree) { return tree.contains("bias_seconds") || tree.contains("sample_batch_tokens"); }

void check_costs(const Json& costs, const std::vector<std::string>& repeated, Findings& findings) {
    const bool sums = costs.contains("bias_seconds");
    const std::vector<std::string> keys =
        sums ? std::vector<std::string>{"bias_seconds", "bs_probes", "alpha_seconds", "m_probes", "theta_seconds"}
             : std::vector<std::string>{"sample_batch_tokens", "sample_steps_per_sec", "max_batch_tokens"};
    for (const std::string& key : repeated) {
        findings.add(Kind::contradiction, key, "appears twice; only one of them counts");
    }
    for (const auto& [key, value] : costs.items()) {
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
            findings.add(Kind::unknown, key, "has no effect" + text::did_you_mean(key, keys));
        }
    }
    if (sums) {
        check_bias(costs, findings);
        check_columns(costs, {"bs_probes", "alpha_seconds", false}, findings);
        check_columns(costs, {"m_probes", "theta_seconds", false}, findings);
    } else {
        check_columns(costs, {"sample_batch_tokens", "sample_steps_per_sec", true}, findings);
        check_most_tokens(costs, findings);
    }
}

}  // namespace treeline::engines::sglang
