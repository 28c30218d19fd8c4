#include "reports/sweep/sweep_summary.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

std::vector<std::string_view> names_of_columns(const std::vector<const sweeps::SweepColumn*>& columns) {
    std::vector<std::string_view> names;
    for (const sweeps::SweepColumn* column : columns) {
        names.push_back(column->name);
    }
    return names;
}

/// The best point of each group.
std::string group_table(const sweeps::SweepAnswer& answer, std::size_t list) {
    std::vector<sweeps::SweepPoint> points;
    for (const sweeps::GroupList::Entry& entry : answer.summary.groups[list].entries) {
        points.push_back(entry.point);
    }
    const sweeps::GroupBest& asked = answer.options.groups[list];
    const std::string title =
        fmt::format("\nThe best by {} of each {}\n\n", with_direction(*asked.by), text::listed(asked.axes, "and"));
    return title + (points.empty() ? "  no point fits\n" : table_of(answer, points, {asked.by}));
}

std::string distribution_table(const sweeps::SweepAnswer& answer) {
    text::TextTable table({{"Distribution", text::Align::left},
                           {"points"},
                           {"least"},
                           {"10 %"},
                           {"25 %"},
                           {"median"},
                           {"75 %"},
                           {"90 %"},
                           {"99 %"},
                           {"most"}});
    for (std::size_t i = 0; i < answer.summary.distributions.size(); ++i) {
        const sweeps::Distribution& values = answer.summary.distributions[i];
        std::vector<std::string> cells = {std::string(answer.options.distributions[i]->name),
                                          text::grouped_text(static_cast<long long>(values.count()))};
        cells.push_back(values.count() > 0 ? text::short_text(values.least()) : "");
        for (const double share : {0.1, 0.25, 0.5, 0.75, 0.9, 0.99}) {
            cells.push_back(values.count() > 0 ? text::short_text(values.quantile(share)) : "");
        }
        cells.push_back(values.count() > 0 ? text::short_text(values.most()) : "");
        table.add(std::move(cells));
    }
    return "\n" + table.text();
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

/// Points that were not priced, and why.
std::string dropped_text(const sweeps::SweepAnswer& answer) {
    const std::string count = text::grouped_text(static_cast<long long>(answer.summary.dropped));
    const std::string why = answer.input.space.conditions.empty() ? "" : "by conditions, or ";
    return answer.summary.dropped == 0 ? count : fmt::format("{} ({}shapes that the drafter cannot draft)", count, why);
}

/// How many points were priced, and how many of them are not listed.
std::string counts_text(const sweeps::SweepAnswer& answer) {
    const sweeps::SweepSummary& summary = answer.summary;
    const sweeps::SweepOptions& options = answer.options;
    text::FactList facts;
    facts.add("Points", text::grouped_text(static_cast<long long>(summary.points)));
    facts.add("Left out", dropped_text(answer));
    facts.add("Do not fit in memory", too_large_text(answer));
    if (!options.limits.empty()) {
        facts.add("Beyond the limits", text::grouped_text(static_cast<long long>(summary.beyond_limits)));
    }
    facts.add("On the Pareto front", fmt::format("{} ({})", text::grouped_text(static_cast<long long>(summary.pareto.size())),
                                                 fmt::join(names_of_columns(options.pareto_of), " against ")));
    return facts.text();
}

Json column_json(const sweeps::SweepColumn& column) { return {{"column", column.name}, {"better", direction(column)}}; }

Json groups_json(const sweeps::SweepAnswer& answer) {
    Json lists = Json::array();
    for (std::size_t i = 0; i < answer.summary.groups.size(); ++i) {
        if (answer.options.groups[i].for_page) {
            continue;
        }
        Json best = Json::array();
        for (const sweeps::GroupList::Entry& entry : answer.summary.groups[i].entries) {
            best.push_back(sweep_point_json(answer.input, entry.point));
        }
        const sweeps::GroupBest& asked = answer.options.groups[i];
        lists.push_back({{"group_by", asked.axes}, {"best_by", column_json(*asked.by)}, {"best", std::move(best)}});
    }
    return lists;
}

constexpr std::array shown_quantiles = {0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99};
constexpr std::size_t bars_of_histogram = 40;

Json distributions_json(const sweeps::SweepAnswer& answer) {
    Json list = Json::array();
    for (std::size_t i = 0; i < answer.summary.distributions.size(); ++i) {
        const sweeps::Distribution& distribution = answer.summary.distributions[i];
        Json json = {{"column", answer.options.distributions[i]->name}, {"points", distribution.count()}};
        if (distribution.count() > 0) {
            json["least"] = distribution.least();
            json["most"] = distribution.most();
            for (const double share : shown_quantiles) {
                json["quantiles"].push_back({{"share", share}, {"value", distribution.quantile(share)}});
            }
            for (const sweeps::Distribution::Bar& bar : distribution.histogram(bars_of_histogram)) {
                json["histogram"].push_back({{"from", bar.from}, {"to", bar.to}, {"points", bar.count}});
            }
        }
        list.push_back(std::move(json));
    }
    return list;
}

Json search_json(const sweeps::SearchProof& proof) {
    return {{"space", proof.space},         {"bounded_away", proof.bounded_away},
            {"too_large", proof.too_large}, {"beyond_limits", proof.beyond_limits},
            {"boxes", proof.boxes},         {"gap", std::isfinite(proof.gap) ? Json(proof.gap) : Json()},
            {"stopped", proof.stopped}};
}

/// What a search proves, and by how much work.
std::string search_text(const sweeps::SweepAnswer& answer) {
    const sweeps::SearchProof& proof = *answer.summary.search;
    const auto count = [](std::uint64_t points) { return text::grouped_text(static_cast<long long>(points)); };
    text::FactList facts;
    facts.add("Points of the space", count(proof.space));
    facts.add("Priced one by one", count(answer.summary.points));
    facts.add("Bounded away", fmt::format("{} by the bounds of {} boxes", count(proof.bounded_away), count(proof.boxes)));
    facts.add("Do not fit in memory", fmt::format("{} of those priced, {} in boxes of which none fits",
                                                  count(answer.summary.too_large), count(proof.too_large)));
    if (!answer.options.limits.empty()) {
        facts.add("Beyond the limits", fmt::format("{} of those priced, {} in boxes of which all are",
                                                   count(answer.summary.beyond_limits), count(proof.beyond_limits)));
    }
    facts.add("Left out", dropped_text(answer));
    facts.add("Of excluded variants", count(proof.excluded));
    facts.add("Proven",
              proof.gap == 0.0 ? "no other point of the space is better than those listed"
              : std::isfinite(proof.gap)
                  ? fmt::format("no other point is better than the last one listed by more than {:.2g} %", 1e2 * proof.gap)
                  : "nothing: too many boxes were open");
    return facts.text();
}

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
    Json json = {{"points", summary.points},
                 {"dropped", summary.dropped},
                 {"too_large", summary.too_large},
                 {"too_large_listed", answer.options.ignore_memory},
                 {"best_by", column_json(*answer.options.best_by)},
                 {"best", best},
                 {"pareto_of", pareto_of},
                 {"pareto", pareto},
                 {"excluded", excluded}};
    if (!answer.options.limits.empty()) {
        json["beyond_limits"] = summary.beyond_limits;
    }
    if (summary.search) {
        json["search"] = search_json(*summary.search);
    }
    if (Json groups = groups_json(answer); !groups.empty()) {
        json["groups"] = std::move(groups);
    }
    if (!summary.distributions.empty()) {
        json["distributions"] = distributions_json(answer);
    }
    return json;
}

/// What to ask for where the best points are batches and contexts of one configuration.
std::string neighbours_text(const sweeps::SweepAnswer& answer) {
    const std::vector<sweeps::SweepPoint>& best = answer.summary.best;
    const bool alike = std::all_of(best.begin(), best.end(), [&](const sweeps::SweepPoint& point) {
        return point.variant == best.front().variant && point.point.speculation == best.front().point.speculation;
    });
    const bool others = answer.input.space.variants.size() > 1 || answer.input.space.speculation.size() > 1;
    return alike && others && best.size() > 1 ? "These are neighbours of one another; --distinct device,drafter,shape lists "
                                                "each configuration once.\n"
                                              : "";
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
    text += summary.search ? search_text(answer) : counts_text(answer);
    if (answer.lists_best && !summary.best.empty()) {
        text += fmt::format("\nThe best {} by {}\n\n", text::grouped_text(static_cast<long long>(summary.best.size())),
                            with_direction(*options.best_by)) +
                table_of(answer, summary.best, {options.best_by}) + gaps_text(answer, {options.best_by}) +
                neighbours_text(answer);
    }
    if (answer.lists_pareto && !summary.pareto.empty()) {
        const std::vector<const sweeps::SweepColumn*> columns(options.pareto_of.begin(), options.pareto_of.end());
        std::vector<std::string> names;
        for (const sweeps::SweepColumn* column : columns) {
            names.push_back(with_direction(*column));
        }
        text += fmt::format("\nThe Pareto set of {}\n\n", text::listed(names, "and")) +
                table_of(answer, summary.pareto, columns) + gaps_text(answer, columns);
    }
    for (std::size_t i = 0; i < summary.groups.size(); ++i) {
        text += answer.options.groups[i].for_page ? "" : group_table(answer, i);
    }
    if (!summary.distributions.empty()) {
        text += distribution_table(answer);
    }
    for (const sweeps::Exclusion& exclusion : summary.excluded) {
        text += text::wrapped(fmt::format("Excluded: {}: {}.", exclusion.label, exclusion.reason), 110, "  ") + "\n";
    }
    return text;
}

}  // namespace treeline::reports
