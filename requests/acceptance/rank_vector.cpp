// Acceptance by child rank, as Sequoia measures it (arXiv 2402.12374; its acceptance-rate-vector holds P(reject all) at the end
// or the start in some versions, which sums to 1 with the others).
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/acceptance/acceptance_file.h"
#include "text/input_error.h"

namespace treeline::requests::acceptance_file {

std::optional<AcceptanceFile> rank_vector(const FileJson& json, const std::string& name) {
    const bool named = json.is_object() && json.contains("acceptance_by_child_rank");
    const FileJson& list = named ? json["acceptance_by_child_rank"] : json;
    if (!list.is_array() || list.empty() || !list.front().is_number()) {
        return std::nullopt;
    }
    AcceptanceFile file;
    file.format = "acceptance by child rank";
    double sum = 0.0;
    for (const FileJson& rank : list) {
        const double rate = rank.is_number() ? rank.get<double>() : -1.0;
        if (rate < 0.0 || rate > 1.0) {
            throw text::InputError({fmt::format("{}: acceptance by child rank must hold rates between 0 and 1", name)});
        }
        sum += rate;
        file.by_rank.push_back(rate);
    }
    constexpr double rounding = 1e-3;
    if (sum > 1.0 + rounding) {
        throw text::InputError(
            {fmt::format("{}: at most one child is accepted, so the ranks must sum to at most 1, not {:.3g}", name, sum)});
    }
    return file;
}

}  // namespace treeline::requests::acceptance_file
