#include "reports/device_figures.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "reports/objective_text.h"
#include "text/number_text.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

std::string against(const sweeps::DeviceChoice& other, const sweeps::Candidate& best) {
    std::string text = fmt::format("{} reaches {} its tokens/s", other.platform,
                                   text::ratio_text(other.best->tokens_per_second_device / best.tokens_per_second_device));
    if (best.energy_per_token > Joules(0.0) && other.best->energy_per_token > Joules(0.0)) {
        text += fmt::format(" and {} its tokens/J", text::ratio_text(best.energy_per_token / other.best->energy_per_token));
    }
    return text;
}

Json row_of(const sweeps::Recommendation& recommendation, const sweeps::TradeoffPoint& point) {
    const sweeps::VariantLabels& labels = recommendation.variants[point.variant].labels;
    const sim::Speculation& speculation = recommendation.speculations[static_cast<std::size_t>(point.speculation)];
    const bool drafts = point.draft_tokens > 0;
    return {{"device", labels.platform()},
            {"batch", point.batch},
            {"drafter", labels.drafter},
            {"shape", drafts ? text_of(speculation) : "off"},
            {"rollback", drafts ? labels.rollback : ""},
            {"tokens_per_s", point.tokens_per_second_device},
            {"tokens_per_s_user", point.tokens_per_second_user},
            {"tokens_per_j", 1.0 / point.energy_per_token.value()}};
}

/// Every configuration whose energy is known, by rising batch, with "beaten" for those that another one of the same batch beats
/// in tokens/s and tokens/J.
Json configurations(const sweeps::Recommendation& recommendation) {
    std::map<double, std::vector<const sweeps::TradeoffPoint*>> by_batch;
    for (const sweeps::TradeoffPoint& point : recommendation.tradeoffs) {
        if (point.energy_per_token > Joules(0.0)) {
            by_batch[point.batch].push_back(&point);
        }
    }
    Json rows = Json::array();
    for (const auto& [batch, points] : by_batch) {
        std::vector<sweeps::Tradeoff> tradeoffs;
        for (const sweeps::TradeoffPoint* point : points) {
            tradeoffs.push_back({1.0 / point->energy_per_token.value(), point->tokens_per_second_device, tradeoffs.size()});
        }
        std::set<std::size_t> front;
        for (const sweeps::Tradeoff& tradeoff : sweeps::pareto_front(tradeoffs)) {
            front.insert(tradeoff.id);
        }
        for (std::size_t i = 0; i < points.size(); ++i) {
            rows.push_back(row_of(recommendation, *points[i]));
            rows.back()["beaten"] = front.count(i) == 0;
        }
    }
    return rows;
}

/// Of each device the configuration with the most tokens/J at each batch.
Json most_frugal(const sweeps::Recommendation& recommendation) {
    std::map<std::pair<std::string, double>, const sweeps::TradeoffPoint*> least;
    for (const sweeps::TradeoffPoint& point : recommendation.tradeoffs) {
        if (point.energy_per_token > Joules(0.0)) {
            const sweeps::TradeoffPoint*& known =
                least[{recommendation.variants[point.variant].labels.platform(), point.batch}];
            known = known == nullptr || point.energy_per_token < known->energy_per_token ? &point : known;
        }
    }
    Json rows = Json::array();
    for (const auto& [place, point] : least) {
        rows.push_back(row_of(recommendation, *point));
    }
    return rows;
}

std::vector<FigureColumn> columns() {
    return {{"device", "Device"},
            {"batch", "Batch"},
            {"drafter", "Drafter"},
            {"shape", "Shape"},
            {"rollback", "Rollback"},
            {"tokens_per_s", "Per device", "tokens/s", 1},
            {"tokens_per_s_user", "Per user", "tokens/s", 1},
            {"tokens_per_j", "Energy", "tokens/J", 2}};
}

Figure tradeoff_figure(Json rows) {
    Figure figure;
    figure.id = "device-energy";
    figure.title = "Tokens/s per device against tokens/J";
    figure.reading =
        "Each mark is a drafter and rollback with its fastest shape, or plain decoding. Filled marks are the Pareto set of the "
        "batch: no other mark is better in both. Up and to the right is better.";
    figure.mark = FigureMark::point;
    figure.x = {"tokens_per_s", "Tokens/s per device", true};
    figure.y = {"tokens_per_j", "Tokens/J", true};
    figure.series = "device";
    figure.hollow = "beaten";
    figure.choices = {{"batch", "Batch"}};
    figure.columns = columns();
    figure.rows = std::move(rows);
    return figure;
}

Figure batch_figure(Json rows) {
    Figure figure;
    figure.id = "device-energy-by-batch";
    figure.title = "Tokens/J by batch";
    figure.reading =
        "Each point is a device's configuration with the most tokens/J at that batch. GPUs read the weights once per batch; if "
        "sequences take turns, as on FPGA accelerators, the line is flat.";
    figure.x = {"batch", "Batch", true};
    figure.y = {"tokens_per_j", "Tokens/J", true};
    figure.series = "device";
    figure.columns = columns();
    figure.rows = std::move(rows);
    return figure;
}

}  // namespace

std::string device_sentence(const sweeps::Workload& workload, const sweeps::Recommendation& recommendation) {
    const std::vector<sweeps::DeviceChoice> choices = sweeps::best_of_each_device(recommendation);
    if (choices.size() < 2) {
        return "";
    }
    std::string text = fmt::format("{} is the best device for {}", choices.front().platform, quantity_text(workload.objective));
    const char* separator = ": ";
    constexpr std::size_t most_named = 4;  // the table has them all
    for (std::size_t i = 1; i < std::min(choices.size(), most_named + 1); ++i) {
        text += separator + against(choices[i], *choices.front().best);
        separator = "; ";
    }
    return text +
           (choices.size() > most_named + 1 ? fmt::format("; {} more reach less.", choices.size() - most_named - 1) : ".");
}

std::optional<FigureSection> device_section(const sweeps::Workload& workload, const sweeps::Recommendation& recommendation) {
    const std::string sentence = device_sentence(workload, recommendation);
    Json rows = configurations(recommendation);
    if (sentence.empty() || rows.empty()) {
        return std::nullopt;
    }
    return FigureSection{"devices",
                         "Devices: speed and energy",
                         sentence,
                         {tradeoff_figure(std::move(rows)), batch_figure(most_frugal(recommendation))}};
}

}  // namespace treeline::reports
