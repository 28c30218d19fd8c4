#include "reports/fit/break_even_output.h"
#include "reports/json_rows.h"

#include <set>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_rows = 32;
constexpr std::size_t page_width = 110;

std::string length_text(const std::optional<double>& value) { return value ? text::fixed_text(*value, 2) : "-"; }

std::string nodes_text(int nodes) { return fmt::format("{} node{}", nodes, nodes == 1 ? "" : "s"); }

std::string chain_text(const calibrate::ChainRound& chain) {
    return fmt::format("a chain of {} draft token{}", chain.draft_tokens, chain.draft_tokens == 1 ? "" : "s");
}

const char* verdict(const calibrate::BreakEvenPoint& point) { return !point.gain ? "" : point.pays() ? "pays" : "loses"; }

bool is_best(const sweeps::BreakEvenAnswer& answer, std::size_t i) { return answer.result.best == i; }

/// All rows of a short list; of a long one rows at growing steps, plus the best, the last paying and the first losing one.
std::set<std::size_t> rows_shown(const calibrate::BreakEven& result) {
    std::set<std::size_t> shown;
    const std::size_t count = result.points.size();
    for (std::size_t i = 0, step = 1; i < count; i += step) {
        shown.insert(i);
        step = count <= most_rows ? 1 : std::max<std::size_t>(1, i / 8);
    }
    shown.insert(count - 1);
    for (std::size_t i = 0; i < count; ++i) {
        const int nodes = result.points[i].tree.nodes;
        if (result.best == i || result.pays_to == nodes || result.stops_at == nodes) {
            shown.insert(i);
        }
    }
    return shown;
}

std::string facts_text(const sweeps::BreakEvenAnswer& answer) {
    const calibrate::ChainRound& chain = answer.result.chain;
    text::FactList facts;
    facts.add("Tree", text_of(answer.input.tree));
    facts.add("Chain", text_of(answer.input.chain));
    facts.add("", fmt::format(
                      "{} draft tokens, {} per round{}", chain.draft_tokens, text_of(chain.time),
                      chain.accept_length ? fmt::format(", accept length {}", text::fixed_text(*chain.accept_length, 2)) : ""));
    return facts.text();
}

bool any_extrapolated(const calibrate::BreakEven& result) {
    return std::any_of(result.points.begin(), result.points.end(),
                       [](const calibrate::BreakEvenPoint& point) { return point.tree.extrapolated; });
}

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }
Json optional_json(const std::optional<int>& value) { return value ? Json(*value) : Json(); }

Json point_json(const calibrate::BreakEvenPoint& point) {
    Json json = {{"nodes", point.tree.nodes}};
    if (point.tree.depth > 0) {
        json["depth"] = point.tree.depth;
    }
    if (!point.tree.label.empty()) {
        json["shape"] = point.tree.label;
    }
    json["time_s"] = point.tree.time.value();
    json["ratio_needed"] = point.ratio_needed;
    json["ratio_half_width"] = point.ratio_half_width;
    json["accept_length_needed"] = optional_json(point.accept_length_needed);
    json["accept_length_reached"] = optional_json(point.tree.accept_length);
    json["ratio_reached"] = optional_json(point.ratio_reached);
    json["gain"] = optional_json(point.gain);
    json["verdict"] = verdict(point);
    json["extrapolated"] = point.tree.extrapolated;
    return json;
}

Json sizes_json(const calibrate::BreakEven& result) {
    Json sizes = Json::array();
    for (const calibrate::BreakEvenPoint& point : result.points) {
        sizes.push_back(point_json(point));
    }
    return sizes;
}

}  // namespace

std::string sentence_of(const sweeps::BreakEvenAnswer& answer) {
    const calibrate::BreakEven& result = answer.result;
    const calibrate::BreakEvenPoint& last = result.points.back();
    if (!result.best) {
        const std::string needed = last.accept_length_needed ? fmt::format(" ({} tokens per round against {})",
                                                                           text::fixed_text(*last.accept_length_needed, 2),
                                                                           text::fixed_text(*result.chain.accept_length, 2))
                                                             : "";
        return fmt::format(
            "A tree of {} must reach {} times the accept length of {}{}; only their acceptance tells whether trees do.",
            nodes_text(last.tree.nodes), text::fixed_text(last.ratio_needed, 3), chain_text(result.chain), needed);
    }
    const calibrate::BreakEvenPoint& best = result.points[*result.best];
    if (!result.pays_from) {
        return fmt::format("No tree pays: the best one, of {}, runs at {} the speed of {}.", nodes_text(best.tree.nodes),
                           text::ratio_text(*best.gain), chain_text(result.chain));
    }
    const std::string gaps =
        result.losing_between > 0 ? fmt::format(" (not at {} of the sizes between)", result.losing_between) : "";
    const std::string sizes = *result.pays_from == *result.pays_to
                                  ? fmt::format("A tree pays at {}", nodes_text(*result.pays_from))
                                  : fmt::format("A tree pays from {} to {} nodes{} and most at {}", *result.pays_from,
                                                *result.pays_to, gaps, best.tree.nodes);
    const std::string end = result.stops_at ? fmt::format("from {} on it is slower", nodes_text(*result.stops_at))
                                            : "it still pays at the largest size given";
    return fmt::format("{}, with {} the speed of {}; {}.", sizes, text::ratio_text(*best.gain), chain_text(result.chain), end);
}

std::string break_even_table(const sweeps::BreakEvenAnswer& answer) {
    const calibrate::BreakEven& result = answer.result;
    std::string text = text::wrapped(sentence_of(answer), page_width) + "\n\n" + facts_text(answer) + "\n";
    const bool errors = std::any_of(result.points.begin(), result.points.end(),
                                    [](const calibrate::BreakEvenPoint& point) { return point.ratio_half_width > 0.0; });
    text::TextTable table({{"Nodes"},
                           {"levels"},
                           {"round"},
                           {errors ? "ratio needed (95 %)" : "ratio needed"},
                           {"reached"},
                           {"tokens needed"},
                           {"reached"},
                           {"speed"},
                           {"", text::Align::left}});
    const std::set<std::size_t> shown = rows_shown(result);
    for (const std::size_t i : shown) {
        const calibrate::BreakEvenPoint& point = result.points[i];
        const std::string needed = text::fixed_text(point.ratio_needed, 3);
        table.add({std::to_string(point.tree.nodes), point.tree.depth > 0 ? std::to_string(point.tree.depth) : "-",
                   text_of(point.tree.time),
                   errors ? fmt::format("{} +- {}", needed, text::fixed_text(point.ratio_half_width, 3)) : needed,
                   point.ratio_reached ? text::fixed_text(*point.ratio_reached, 3) : "-",
                   length_text(point.accept_length_needed), length_text(point.tree.accept_length),
                   point.gain ? text::ratio_text(*point.gain) : "-",
                   fmt::format("{}{}{}{}", verdict(point), is_best(answer, i) ? ", best" : "",
                               point.is_clear() ? "" : ", not clearly", point.tree.extrapolated ? " (extrapolated)" : "")});
    }
    text += table.text();
    if (shown.size() < result.points.size()) {
        text += fmt::format("{} of {} sizes; --format csv lists all.\n", shown.size(), result.points.size());
    }
    if (any_extrapolated(result)) {
        text += "Extrapolated: beyond the token counts that the law was fitted to.\n";
    }
    if (std::any_of(result.points.begin(), result.points.end(),
                    [](const calibrate::BreakEvenPoint& point) { return !point.is_clear(); })) {
        text += "Not clearly: the ratio reached lies within the 95 % interval of the ratio needed.\n";
    }
    return text;
}

std::string break_even_json(const sweeps::BreakEvenAnswer& answer) {
    const calibrate::BreakEven& result = answer.result;
    Json json = {{"format", "treeline-break-even"}, {"version", 1}};
    if (!answer.input.title.empty()) {
        json["title"] = answer.input.title;
    }
    if (!answer.input.source.empty()) {
        json["source"] = answer.input.source;
    }
    json["sentence"] = sentence_of(answer);
    json["tree"] = text_of(answer.input.tree);
    json["chain"] = {{"rounds", text_of(answer.input.chain)},
                     {"draft_tokens", result.chain.draft_tokens},
                     {"time_s", result.chain.time.value()},
                     {"accept_length", optional_json(result.chain.accept_length)}};
    json["best"] = result.best ? Json(result.points[*result.best].tree.nodes) : Json();
    json["pays_from"] = optional_json(result.pays_from);
    json["pays_to"] = optional_json(result.pays_to);
    json["losing_between"] = result.losing_between;
    json["stops_at"] = optional_json(result.stops_at);
    json["sizes"] = sizes_json(result);
    return json.dump(2) + "\n";
}

std::string break_even_csv(const sweeps::BreakEvenAnswer& answer) {
    return csv_of({"nodes", "depth", "time_s", "ratio_needed", "ratio_half_width", "ratio_reached", "accept_length_needed",
                   "accept_length_reached", "gain", "verdict", "shape"},
                  sizes_json(answer.result));
}

}  // namespace treeline::reports
