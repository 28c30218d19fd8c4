#include "requests/variant_reader.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace treeline::requests {
std::vector<sim::Rollback> read_rollbacks(json::Reader& at, std::string_view key) {
    if (!at.has(key) || at.raw().at(std::string(key)) == "auto") {
        return {};
    }
    std::vector<sim::Rollback> rollbacks;
    for (const std::string& name : at.texts(key)) {
        if (const std::optional<sim::Rollback> rollback = rollback_of(at, key, name)) {
            rollbacks.push_back(*rollback);
        }
    }
    return rollbacks;
}

void check_labels(json::Reader& at, std::string_view key, const std::vector<std::string>& labels) {
    std::set<std::string> seen;
    for (const std::string& label : labels) {
        if (!label.empty() && !seen.insert(label).second) {
            at.problem(key, fmt::format("holds \"{}\" twice, so results could not tell them apart", label));
        }
    }
}

}  // namespace treeline::requests
