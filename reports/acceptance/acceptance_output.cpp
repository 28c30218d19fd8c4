#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/acceptance/acceptance_output.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t page_width = 110;

std::string world_text(const sweeps::AcceptanceStudy& study) {
    const sim::sampling::WorldParameters& world = study.world;
    return fmt::format("{} tokens, sharpness {}, mismatch {}, caution {} (drafter's logits times {}); mean of {} from seed {}",
                       world.vocabulary, text::short_text(world.sharpness), text::short_text(world.mismatch),
                       text::short_text(world.caution), text::short_text(world.confidence()), study.worlds, world.seed);
}

std::string fit_text(const sweeps::AcceptanceStudyAnswer& answer) {
    const sweeps::MeasuredStudy& measured = *answer.study.measured;
    std::string text;
    for (std::size_t i = 0; i < measured.lengths.size(); ++i) {
        text += fmt::format("{} at T = {} (they accept {}), ", text::fixed_text(measured.lengths[i].accept_length, 3),
                            text::exact_text(measured.lengths[i].at.target), text::fixed_text(answer.fitted_lengths[i], 3));
    }
    return fmt::format("{}{}, {}", text, measured.tree.label, name_of(measured.method));
}

/// "2.044 (2.03 to 2.06)"; only the interval if there is no closed form.
std::string cell_text(const sweeps::StudiedCell& cell) {
    const double low = cell.decoded.accept_length - cell.decoded.margin();
    const double high = cell.decoded.accept_length + cell.decoded.margin();
    return fmt::format("{} ({} to {})", cell.exact ? text::fixed_text(cell.exact->accept_length(), 3) : "",
                       text::fixed_text(low, 2), text::fixed_text(high, 2));
}

std::string tree_text(const sweeps::StudiedTreeAnswer& answer, const std::vector<double>& temperatures) {
    std::vector<text::Column> columns = {{"Method", text::Align::left}};
    for (const double temperature : temperatures) {
        columns.push_back({"T = " + text::exact_text(temperature)});
    }
    text::TextTable table(columns);
    for (const sweeps::StudiedMethod& method : answer.methods) {
        std::vector<std::string> cells = {std::string(name_of(method.method))};
        for (const sweeps::StudiedCell& cell : method.cells) {
            cells.push_back(cell_text(cell));
        }
        table.add(cells);
    }
    const sim::DraftTree& tree = answer.tree.tree;
    return fmt::format("Accept length of {} ({} node{}, {} level{})\n{}", answer.tree.label, tree.nodes(),
                       tree.nodes() == 1 ? "" : "s", tree.depth(), tree.depth() == 1 ? "" : "s", table.text());
}

/// The methods that the answer uses, each once.
std::vector<sim::sampling::Method> used_methods(const sweeps::AcceptanceStudyAnswer& answer) {
    std::vector<sim::sampling::Method> used;
    for (const sim::sampling::Method method : sim::sampling::all_methods) {
        const auto uses = [&](const sweeps::StudiedTreeAnswer& tree) {
            return std::any_of(tree.methods.begin(), tree.methods.end(),
                               [&](const sweeps::StudiedMethod& each) { return each.method == method; });
        };
        if (std::any_of(answer.trees.begin(), answer.trees.end(), uses)) {
            used.push_back(method);
        }
    }
    return used;
}

Json cell_json(const sweeps::StudiedCell& cell) {
    std::vector<double> positions;
    if (cell.exact) {
        positions.assign(cell.exact->at_least.begin() + 1, cell.exact->at_least.end());
    } else {
        for (int i = 1; i <= cell.decoded.by_position().measured_positions(); ++i) {
            positions.push_back(cell.decoded.by_position().position(i));
        }
    }
    return {{"temperature", cell.temperature},
            {"accept_length", cell.exact ? Json(cell.exact->accept_length()) : Json()},
            {"decoded",
             {{"accept_length", cell.decoded.accept_length},
              {"margin_99_percent", cell.decoded.margin()},
              {"rounds", cell.decoded.rounds}}},
            {"per_position", positions},
            {"per_rank", cell.by_rank().by_rank()}};
}

Json world_json(const sweeps::AcceptanceStudyAnswer& answer) {
    const sim::sampling::WorldParameters& world = answer.study.world;
    Json json = {{"vocabulary", world.vocabulary},
                 {"sharpness", world.sharpness},
                 {"mismatch", world.mismatch},
                 {"caution", world.caution},
                 {"confidence", world.confidence()},
                 {"worlds", answer.study.worlds},
                 {"seed", world.seed}};
    return json;
}

Json measured_json(const sweeps::AcceptanceStudyAnswer& answer) {
    const sweeps::MeasuredStudy& measured = *answer.study.measured;
    Json json = {{"shape", measured.tree.label}, {"method", name_of(measured.method)}, {"points", Json::array()}};
    for (std::size_t i = 0; i < measured.lengths.size(); ++i) {
        json["points"].push_back({{"temperature", measured.lengths[i].at.target},
                                  {"accept_length", measured.lengths[i].accept_length},
                                  {"fitted_accept_length", answer.fitted_lengths[i]}});
    }
    return json;
}

}  // namespace

std::string acceptance_table(const sweeps::AcceptanceStudyAnswer& answer) {
    const sweeps::AcceptanceStudy& study = answer.study;
    text::FactList facts;
    if (!study.title.empty()) {
        facts.add("Title", study.title);
    }
    if (!study.source.empty()) {
        facts.add("Source", study.source);
    }
    facts.add("Synthetic models", world_text(study));
    if (study.drafter_temperature) {
        facts.add("Drafter", "at temperature " + text::exact_text(*study.drafter_temperature) + " throughout");
    }
    if (study.measured) {
        facts.add("Fitted to", fit_text(answer));
    }
    std::string text = facts.text();
    for (const sweeps::StudiedTreeAnswer& tree : answer.trees) {
        text += "\n" + tree_text(tree, study.temperatures);
    }
    text::FactList meanings;
    for (const sim::sampling::Method method : used_methods(answer)) {
        meanings.add(std::string(name_of(method)), sim::sampling::meaning_of(method));
    }
    return text + "\n" + meanings.text() + "\n" +
           text::wrapped(
               fmt::format("Figures are closed forms, bonus token included; in brackets the 99 % interval of {} simulated "
                           "rounds. This is a model of two small random language models, not a measurement: it tells "
                           "methods and temperatures apart, and measured accept lengths should replace it.",
                           text::grouped_text(answer.trees.front().methods.front().cells.front().decoded.rounds)),
               page_width) +
           "\n";
}

std::string acceptance_json(const sweeps::AcceptanceStudyAnswer& answer) {
    Json json = {{"format", "treeline-acceptance"}, {"version", 1}, {"synthetic", true}};
    if (!answer.study.title.empty()) {
        json["title"] = answer.study.title;
    }
    json["world"] = world_json(answer);
    if (answer.study.drafter_temperature) {
        json["drafter_temperature"] = *answer.study.drafter_temperature;
    }
    if (answer.study.measured) {
        json["measured"] = measured_json(answer);
    }
    json["trees"] = Json::array();
    for (const sweeps::StudiedTreeAnswer& tree : answer.trees) {
        Json methods = Json::array();
        for (const sweeps::StudiedMethod& method : tree.methods) {
            Json cells = Json::array();
            for (const sweeps::StudiedCell& cell : method.cells) {
                cells.push_back(cell_json(cell));
            }
            methods.push_back({{"method", name_of(method.method)}, {"temperatures", std::move(cells)}});
        }
        json["trees"].push_back({{"tree", tree.tree.label}, {"parents", tree.tree.tree.parents()}, {"methods", methods}});
    }
    return json.dump(2) + "\n";
}

std::string acceptance_csv(const sweeps::AcceptanceStudyAnswer& answer) {
    std::string text = text::csv_line(
        {"tree", "method", "temperature", "accept_length", "decoded_accept_length", "margin_99_percent", "rounds"});
    for (const sweeps::StudiedTreeAnswer& tree : answer.trees) {
        for (const sweeps::StudiedMethod& method : tree.methods) {
            for (const sweeps::StudiedCell& cell : method.cells) {
                text +=
                    text::csv_line({tree.tree.label, std::string(name_of(method.method)), text::exact_text(cell.temperature),
                                    cell.exact ? text::exact_text(cell.exact->accept_length()) : "",
                                    text::exact_text(cell.decoded.accept_length), text::exact_text(cell.decoded.margin()),
                                    std::to_string(cell.decoded.rounds)});
            }
        }
    }
    return text;
}

}  // namespace treeline::reports
