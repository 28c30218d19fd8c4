#include "reports/device_figures.h"

#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "reports/number_text.h"

namespace treeline {
namespace {

using Json = nlohmann::ordered_json;

std::string what_counts(Objective objective) {
    switch (objective) {
        case Objective::throughput:
            return "tokens/s of a device";
        case Objective::latency:
            return "time per token";
        case Objective::cost:
            return "price per token";
        case Objective::energy:
            return "energy per token";
    }
    return "";
}

std::string against(const DeviceChoice& other, const Candidate& best) {
    std::string text = fmt::format("{} reaches {} its tokens/s", other.platform,
                                   ratio_text(other.best->tokens_per_second_device / best.tokens_per_second_device));
    if (best.energy_per_token > Joules(0.0) && other.best->energy_per_token > Joules(0.0)) {
        text += fmt::format(" and {} its tokens/J", ratio_text(best.energy_per_token / other.best->energy_per_token));
    }
    return text;
}

/// The fastest point of each device and batch, in the order of the devices' names and rising batch.
std::vector<TradeoffPoint> fastest_points(const Recommendation& recommendation) {
    std::map<std::pair<std::string, double>, TradeoffPoint> fastest;
    for (const TradeoffPoint& point : recommendation.tradeoffs) {
        if (point.energy_per_token > Joules(0.0)) {
            const std::string platform = recommendation.variants[point.variant].labels.platform();
            TradeoffPoint& known = fastest[{platform, point.batch}];
            if (point.tokens_per_second_device > known.tokens_per_second_device) {
                known = point;
            }
        }
    }
    std::vector<TradeoffPoint> points;
    for (const auto& [place, point] : fastest) {
        points.push_back(point);
    }
    return points;
}

/// An accelerator takes one sequence after the other, so that larger batches repeat the point of batch 1.
bool repeats(const TradeoffPoint& point, const TradeoffPoint& before) {
    constexpr double rounding = 1e-9;
    return point.variant == before.variant &&
           std::abs(point.tokens_per_second_device / before.tokens_per_second_device - 1.0) < rounding;
}

std::set<std::size_t> front_of(const std::vector<TradeoffPoint>& points) {
    std::vector<Tradeoff> tradeoffs;
    for (std::size_t i = 0; i < points.size(); ++i) {
        tradeoffs.push_back({1.0 / points[i].energy_per_token.value(), points[i].tokens_per_second_device, i});
    }
    std::set<std::size_t> front;
    for (const Tradeoff& tradeoff : pareto_front(tradeoffs)) {
        front.insert(tradeoff.id);
    }
    return front;
}

Json rows_of(const Recommendation& recommendation, const std::vector<TradeoffPoint>& points) {
    const std::set<std::size_t> front = front_of(points);
    Json rows = Json::array();
    for (std::size_t i = 0; i < points.size(); ++i) {
        const TradeoffPoint& point = points[i];
        if (i > 0 && repeats(point, points[i - 1])) {
            continue;
        }
        const VariantLabels& labels = recommendation.variants[point.variant].labels;
        const Speculation& speculation = recommendation.speculations[static_cast<std::size_t>(point.speculation)];
        rows.push_back({{"device", labels.platform()},
                        {"batch", point.batch},
                        {"drafter", labels.drafter},
                        {"shape", point.draft_tokens > 0 ? text_of(speculation) : "off"},
                        {"tokens_per_s", point.tokens_per_second_device},
                        {"tokens_per_s_user", point.tokens_per_second_user},
                        {"tokens_per_j", 1.0 / point.energy_per_token.value()},
                        {"beaten", front.count(i) == 0}});
    }
    return rows;
}

Figure tradeoff_figure(Json rows) {
    Figure figure;
    figure.id = "device-energy";
    figure.title = "Tokens/s of a device against tokens/J";
    figure.reading =
        "Each mark is a device's fastest configuration at one batch (powers of two). Filled marks are the Pareto set: no other "
        "mark is better in both. Up and to the right is better.";
    figure.mark = FigureMark::point;
    figure.x = {"tokens_per_s", "Tokens/s of a device", true};
    figure.y = {"tokens_per_j", "Tokens/J", true};
    figure.series = "device";
    figure.hollow = "beaten";
    figure.columns = {{"device", "Device"},
                      {"batch", "Batch"},
                      {"drafter", "Drafter"},
                      {"shape", "Shape"},
                      {"tokens_per_s", "Per device", "tokens/s", 1},
                      {"tokens_per_s_user", "Per user", "tokens/s", 1},
                      {"tokens_per_j", "Energy", "tokens/J", 2}};
    figure.rows = std::move(rows);
    return figure;
}

}  // namespace

std::string device_sentence(const Workload& workload, const Recommendation& recommendation) {
    const std::vector<DeviceChoice> choices = best_of_each_device(recommendation);
    if (choices.size() < 2) {
        return "";
    }
    std::string text = fmt::format("{} is the best device for {}", choices.front().platform, what_counts(workload.objective));
    const char* separator = ": ";
    for (std::size_t i = 1; i < choices.size(); ++i) {
        text += separator + against(choices[i], *choices.front().best);
        separator = "; ";
    }
    return text + ".";
}

std::optional<FigureSection> device_section(const Workload& workload, const Recommendation& recommendation) {
    const std::string sentence = device_sentence(workload, recommendation);
    const std::vector<TradeoffPoint> points = fastest_points(recommendation);
    if (sentence.empty() || points.empty()) {
        return std::nullopt;
    }
    return FigureSection{"devices", "Devices: speed and energy", sentence, {tradeoff_figure(rows_of(recommendation, points))}};
}

}  // namespace treeline
