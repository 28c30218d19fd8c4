#include "sim/drafter_effects.h"

#include <algorithm>

namespace treeline::sim {
namespace {

constexpr int compared_drafts = 4;
/// Alternating means settle within a few steps, as most drafters share chat, code and math.
constexpr int alternations = 30;

std::map<std::string, double> log_odds_by_requests(const std::vector<MeasuredAcceptance>& measured) {
    std::map<std::string, std::vector<MeasuredAcceptance>> chains;
    for (const MeasuredAcceptance& row : measured) {
        if (row.shape.empty() && !row.source.starts_with("derived")) {
            chains[row.category].push_back(row);
        }
    }
    std::map<std::string, double> log_odds;
    for (const auto& [category, rows] : chains) {
        if (const std::map<int, double> lengths = mean_lengths(rows); !lengths.empty()) {
            log_odds[category] = rate_log_odds(lengths, compared_drafts);
        }
    }
    return log_odds;
}

/// Who measured: "bstnxbt/dflash-mlx" of "bstnxbt/dflash-mlx (f825ffb): benchmark/...".
std::string source_of(const std::vector<MeasuredAcceptance>& measured) {
    const std::string source = measured.empty() ? "" : measured.front().source;
    return source.substr(0, std::min(source.find(" ("), source.find(": ")));
}

}  // namespace

DrafterEffects::DrafterEffects(const std::vector<MeasuredDrafter>& drafters) {
    for (const MeasuredDrafter& drafter : drafters) {
        drafters_.push_back({drafter.kind, source_of(drafter.measured), log_odds_by_requests(drafter.measured), 0.0});
    }
    for (int step = 0; step < alternations; ++step) {
        std::map<std::string, std::pair<double, double>> residuals;  // sum, count
        double sum = 0.0, count = 0.0;
        for (Drafter& drafter : drafters_) {
            drafter.effect = 0.0;
            for (const auto& [requests, odds] : drafter.log_odds) {
                drafter.effect += (odds - requests_[requests]) / static_cast<double>(drafter.log_odds.size());
            }
            for (const auto& [requests, odds] : drafter.log_odds) {
                residuals[requests].first += odds - drafter.effect;
                residuals[requests].second += 1.0;
            }
        }
        for (const auto& [requests, residual] : residuals) {
            requests_[requests] = residual.first / residual.second;
            sum += residual.first;
            count += residual.second;
        }
        for (auto& [requests, effect] : requests_) {
            effect -= count > 0.0 ? sum / count : 0.0;
        }
    }
}

double DrafterEffects::of_its_requests(const Drafter& drafter) const {
    double sum = 0.0;
    for (const auto& [requests, odds] : drafter.log_odds) {
        sum += requests_.at(requests);
    }
    return sum / static_cast<double>(drafter.log_odds.size());
}

std::optional<double> DrafterEffects::mean_beside(std::size_t drafter) const {
    std::map<std::string, std::pair<double, double>> sources;
    for (std::size_t i = 0; i < drafters_.size(); ++i) {
        if (i != drafter && drafters_[i].kind == drafters_[drafter].kind && !drafters_[i].log_odds.empty()) {
            sources[drafters_[i].source].first += drafters_[i].effect;
            sources[drafters_[i].source].second += 1.0;
        }
    }
    constexpr std::size_t fewest_sources = 2;
    double sum = 0.0;
    for (const auto& [source, effects] : sources) {
        sum += effects.first / effects.second;
    }
    return sources.size() < fewest_sources ? std::nullopt : std::optional(sum / static_cast<double>(sources.size()));
}

double DrafterEffects::move(std::size_t drafter, double weight, bool requests_are_those) const {
    const Drafter& of = drafters_[drafter];
    if (of.log_odds.empty()) {
        return 0.0;
    }
    const std::optional<double> mean = mean_beside(drafter);
    return (mean ? (1.0 - weight) * (*mean - of.effect) : 0.0) - (requests_are_those ? 0.0 : of_its_requests(of));
}

int DrafterEffects::kinds_of_requests(std::size_t drafter) const {
    return static_cast<int>(drafters_[drafter].log_odds.size());
}

}  // namespace treeline::sim
