#include "acceptance_spreads.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

#include <nlohmann/json.hpp>

#include "sim/acceptance.h"

namespace treeline::testing {
namespace {

using Json = nlohmann::json;

constexpr int longest = 8;

/// One measured accept length.
struct Length {
    std::string drafter, target, kind, category, dataset, conditions, source;
    int draft_tokens = 0;
    double odds = 0.0;  ///< log-odds of the rate that it implies
};

double odds_of(double accept_length, int draft_tokens) {
    return sim::log_odds(sim::Acceptance::mean_length(accept_length, draft_tokens, 0.0).position(1));
}

void add(Length length, double accept_length, std::vector<Length>& lengths) {
    if (length.draft_tokens >= 1 && length.draft_tokens <= longest && accept_length > 1.0 &&
        accept_length < length.draft_tokens + 1.0) {
        length.odds = odds_of(accept_length, length.draft_tokens);
        lengths.push_back(std::move(length));
    }
}

std::vector<Length> lengths_of(const std::vector<requests::PublishedDrafter>& drafters) {
    std::vector<Length> lengths;
    for (const requests::PublishedDrafter& drafter : drafters) {
        const std::string kind = Json::parse(drafter.description).at("kind");
        for (const sim::MeasuredAcceptance& row : drafter.measured) {
            if (looks_up(kind) || !row.shape.empty() || row.source.starts_with("derived")) {
                continue;
            }
            const std::string conditions = std::to_string(row.temperature.value_or(-1.0)) + row.thinking + "/" +
                                           std::to_string(row.context.value_or(-1.0));
            Length length{drafter.name, drafter.target, kind, row.category, row.dataset, conditions, row.source, 0, 0.0};
            double sum = 1.0;
            for (const double position : row.per_position) {
                sum += position;
                ++length.draft_tokens;
                add(length, sum, lengths);
            }
            if (row.accept_length > 0.0) {
                length.draft_tokens = row.draft_tokens;
                add(length, row.accept_length, lengths);
            }
        }
    }
    return lengths;
}

/// The entries of the file of data sets; `other_batches` gets what the same entry measured at other batches.
std::vector<Length> lengths_of(const Json& entries, std::vector<Vote>& other_batches) {
    std::vector<Length> lengths;
    for (const Json& entry : entries) {
        const std::string kind = entry.at("method");
        if (looks_up(kind) || kind.find("tree") != std::string::npos || !entry.at("dataset").is_string()) {
            continue;
        }
        const std::string dataset = entry["dataset"], target = entry["target"];
        Length length{
            entry["drafter"].dump(), target, kind, dataset, dataset, entry.value("precision", Json()).dump(), entry["source"],
            entry["draft_tokens"],   0.0};
        std::optional<double> first;
        const Json by_batch = entry.value("accept_length_by_batch", Json::object());
        for (const auto& [batch, accept_length] : by_batch.items()) {
            if (first && length.draft_tokens <= longest && accept_length < length.draft_tokens + 1.0) {
                other_batches.push_back({target + dataset, std::abs(odds_of(accept_length, length.draft_tokens) -
                                                                    odds_of(*first, length.draft_tokens))});
            } else if (!first) {
                first = accept_length.get<double>();
            }
        }
        add(length, entry.contains("accept_length") ? entry["accept_length"].get<double>() : first.value_or(0.0), lengths);
    }
    return lengths;
}

/// Differences between lengths of one draft length that `alike` calls so.
std::vector<Vote> differences(const std::vector<Length>& lengths,
                              const std::function<bool(const Length&, const Length&)>& alike) {
    std::vector<Vote> votes;
    for (const Length& one : lengths) {
        for (const Length& other : lengths) {
            if (&one != &other && one.draft_tokens == other.draft_tokens && alike(one, other)) {
                votes.push_back({one.target, std::abs(one.odds - other.odds)});
            }
        }
    }
    return votes;
}

bool same_requests(const Length& a, const Length& b) {
    return a.category == b.category && a.dataset == b.dataset && !a.dataset.empty();
}

}  // namespace

bool looks_up(const std::string& kind) { return kind == "ngram" || kind == "suffix" || kind == "token-recycling"; }

double quantile_of(std::vector<Vote> votes, double share) {
    std::map<std::string, double> of_target;
    for (const Vote& vote : votes) {
        ++of_target[vote.target];
    }
    std::sort(votes.begin(), votes.end(), [](const Vote& a, const Vote& b) { return a.value < b.value; });
    double sum = 0.0;
    for (const Vote& vote : votes) {
        sum += 1.0 / of_target[vote.target];
        if (sum >= share * static_cast<double>(of_target.size())) {
            return vote.value;
        }
    }
    return votes.empty() ? 0.0 : votes.back().value;
}

std::vector<MeasuredSpread> measured_spreads(const std::vector<requests::PublishedDrafter>& drafters,
                                             const std::string& by_dataset) {
    using enum sim::AcceptanceOrigin;
    std::vector<Vote> batches;
    std::vector<Length> lengths = lengths_of(drafters);
    for (Length& length : lengths_of(Json::parse(by_dataset), batches)) {
        lengths.push_back(std::move(length));
    }
    const auto known = [](const Length& length) { return length.category != "mixed"; };
    return {{own_run, batches},
            {these_requests, differences(lengths,
                                         [](const Length& a, const Length& b) {
                                             return a.drafter == b.drafter && a.target == b.target && same_requests(a, b) &&
                                                    a.conditions == b.conditions;
                                         })},
            {other_requests, differences(lengths,
                                         [&](const Length& a, const Length& b) {
                                             return a.drafter == b.drafter && a.target == b.target && !same_requests(a, b) &&
                                                    known(a) && known(b);
                                         })},
            {other_target, differences(lengths,
                                       [](const Length& a, const Length& b) {
                                           return a.target != b.target && a.kind == b.kind && a.category == b.category;
                                       })},
            {assumed, differences(lengths, [](const Length& a, const Length& b) { return a.target != b.target; })}};
}

}  // namespace treeline::testing
