#include "reports/sweep/sweep_summary.h"

#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/wording.h"
#include "reports/provenance_output.h"
#include "reports/sweep/sweep_output.h"
#include "sweeps/variants.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

const char* direction(const sweeps::SweepColumn& column) {
    return column.better == sweeps::Better::higher ? "higher" : "lower";
}

std::string with_direction(const sweeps::SweepColumn& column) {
    return fmt::format("{} ({} is better)", column.name, direction(column));
}

/// Columns that every list shows in the units that suit them.
bool always_shown(const sweeps::SweepColumn& column) {
    constexpr std::array<std::string_view, 9> shown = {
        "draft_tokens",        "batch",    "context", "speedup", "tpot_ms", "accept_length", "tokens_per_s_user",
        "tokens_per_s_device", "memory_gb"};
    return std::find(shown.begin(), shown.end(), column.name) != shown.end();
}

/// `columns` are those that the points were chosen by.
std::string table_of(const sweeps::SweepAnswer& answer, const std::vector<sweeps::SweepPoint>& points,
                     const std::vector<const sweeps::SweepColumn*>& columns) {
    const sweeps::DesignSpace& space = answer.input.space;
    std::vector<text::Column> titles = {{"Configuration", text::Align::left},
                                        {"shape", text::Align::left},
                                        {"draft tokens"},
                                        {"batch"},
                                        {"context"},
                                        {"speed-up"},
                                        {"accept length"},
                                        {"TPOT"},
                                        {"tokens/s/user"},
                                        {"tokens/s/device"},
                                        {"memory"}};
    std::vector<const sweeps::SweepColumn*> further;
    for (const sweeps::SweepColumn* column : columns) {
        if (!always_shown(*column)) {
            further.push_back(column);
            titles.push_back({std::string(column->name)});
        }
    }
    if (answer.options.ignore_memory) {
        titles.push_back({"fits", text::Align::left});
    }
    text::TextTable table(titles);
    for (const sweeps::SweepPoint& point : points) {
        const sim::RoundEstimate& e = point.estimate;
        std::vector<std::string> cells = {text_of(space.variants[point.variant], space.variants),
                                          text_of(sweeps::speculation_of(answer.input, point)),
                                          std::to_string(point.draft_tokens),
                                          text::short_text(point.point.batch),
                                          text::short_text(point.point.context),
                                          text::ratio_text(e.throughput_multiplier),
                                          text::fixed_text(e.accept_length, 2),
                                          text_of(e.time_per_token),
                                          text::short_text(e.tokens_per_second_user),
                                          text::short_text(e.tokens_per_second_device),
                                          text_of(e.memory)};
        for (const sweeps::SweepColumn* column : further) {
            cells.push_back(text::short_text(column->value(point.figures(space))));
        }
        if (answer.options.ignore_memory) {
            cells.emplace_back(e.fits ? "yes" : "no");
        }
        table.add(std::move(cells));
    }
    return table.text();
}

std::string too_large_text(const sweeps::SweepAnswer& answer) {
    const std::string count = text::grouped_text(static_cast<long long>(answer.summary.too_large));
    if (answer.summary.too_large == 0) {
        return count;
    }
    return count + (answer.options.ignore_memory ? " (also listed)" : " (not listed; see --ignore-memory)");
}

/// A sentence for each column that some device's description cannot fill.
std::string gaps_text(const sweeps::SweepAnswer& answer, const std::vector<const sweeps::SweepColumn*>& columns) {
    std::string text;
    for (const sweeps::SweepColumn* column : columns) {
        const std::vector<std::string> devices = sweeps::devices_without(*column, answer.input);
        if (!devices.empty()) {
            text += text::wrapped(fmt::format("Not listed: points on {}, whose description lacks what {} needs.",
                                              text::listed(devices, "and"), column->name),
                                  110, "  ") +
                    "\n";
        }
    }
    return text;
}

Json column_json(const sweeps::SweepColumn& column) { return {{"column", column.name}, {"better", direction(column)}}; }

Json summary_json(const sweeps::SweepAnswer& answer) {
    const sweeps::SweepSummary& summary = answer.summary;
    Json best = Json::array(), pareto = Json::array(), excluded = Json::array(), pareto_of = Json::array();
    for (const sweeps::SweepPoint& point : summary.best) {
        best.push_back(sweep_point_json(answer.input, point));
    }
    for (const sweeps::SweepPoint& point : summary.pareto) {
        pareto.push_back(sweep_point_json(answer.input, point));
    }
    for (const sweeps::Exclusion& exclusion : summary.excluded) {
        excluded.push_back({{"label", exclusion.label}, {"reason", exclusion.reason}});
    }
    for (const sweeps::SweepColumn* column : answer.options.pareto_of) {
        pareto_of.push_back(column_json(*column));
    }
    return {{"points", summary.points},
            {"dropped", summary.dropped},
            {"too_large", summary.too_large},
            {"too_large_listed", answer.options.ignore_memory},
            {"best_by", column_json(*answer.options.best_by)},
            {"best", best},
            {"pareto_of", pareto_of},
            {"pareto", pareto},
            {"excluded", excluded}};
}

}  // namespace

std::string sweep_json_tail(const sweeps::SweepAnswer& answer) {
    return "\n],\n\"summary\": " + summary_json(answer).dump() + "}\n";
}

std::string sweep_summary_json(const sweeps::SweepAnswer& answer) {
    const Json json = {{"format", "treeline-sweep-summary"},
                       {"version", 1},
                       {"title", answer.input.title},
                       {"source", answer.input.source},
                       {"inputs", provenance_json(answer.input.provenance)},
                       {"summary", summary_json(answer)}};
    return json.dump(2) + "\n";
}

std::string sweep_table(const sweeps::SweepAnswer& answer) {
    const sweeps::SweepSummary& summary = answer.summary;
    const sweeps::SweepOptions& options = answer.options;
    std::string text = answer.input.title.empty() ? "" : text::wrapped(answer.input.title, 110) + "\n\n";
    text::FactList facts;
    facts.add("Points", text::grouped_text(static_cast<long long>(summary.points)));
    facts.add("Left out by conditions", text::grouped_text(static_cast<long long>(summary.dropped)));
    facts.add("Do not fit in memory", too_large_text(answer));
    facts.add("On the Pareto front",
              fmt::format("{} ({} against {})", text::grouped_text(static_cast<long long>(summary.pareto.size())),
                          options.pareto_of[0]->name, options.pareto_of[1]->name));
    text += facts.text();
    if (answer.lists_best && !summary.best.empty()) {
        text += fmt::format("\nThe best {} by {}\n\n", text::grouped_text(static_cast<long long>(summary.best.size())),
                            with_direction(*options.best_by)) +
                table_of(answer, summary.best, {options.best_by}) + gaps_text(answer, {options.best_by});
    }
    if (answer.lists_pareto && !summary.pareto.empty()) {
        const std::vector<const sweeps::SweepColumn*> columns(options.pareto_of.begin(), options.pareto_of.end());
        text += fmt::format("\nThe Pareto set of {} and {}\n\n", with_direction(*columns[0]), with_direction(*columns[1])) +
                table_of(answer, summary.pareto, columns) + gaps_text(answer, columns);
    }
    for (const sweeps::Exclusion& exclusion : summary.excluded) {
        text += text::wrapped(fmt::format("Excluded: {}: {}.", exclusion.label, exclusion.reason), 110, "  ") + "\n";
    }
    return text;
}

}  // namespace treeline::reports
