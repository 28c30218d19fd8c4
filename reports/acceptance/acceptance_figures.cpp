#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/acceptance/acceptance_output.h"
#include "reports/figure.h"
#include "text/number_text.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

Figure lengths_over_temperature(const sweeps::StudiedTreeAnswer& tree, std::size_t number) {
    Figure figure;
    figure.id = fmt::format("accept-length-{}", number);
    figure.title = "Accept length of " + tree.tree.label;
    figure.reading =
        "Lines are closed forms, shading the 99 % interval of simulated decoding; tokens per round, bonus token included.";
    figure.x = {"temperature", "Temperature"};
    figure.y = {"accept_length", "Tokens per round"};
    figure.series = "method";
    figure.low = "low";
    figure.high = "high";
    figure.columns = {{"method", "Method", ""},
                      {"temperature", "Temperature", "", 2},
                      {"accept_length", "Accept length", "", 3},
                      {"low", "From", "", 3},
                      {"high", "To", "", 3}};
    for (const sweeps::StudiedMethod& method : tree.methods) {
        for (const sweeps::StudiedCell& cell : method.cells) {
            figure.rows.push_back({{"method", name_of(method.method)},
                                   {"temperature", cell.temperature},
                                   {"accept_length", cell.exact ? cell.exact->accept_length() : cell.decoded.accept_length},
                                   {"low", cell.decoded.accept_length - cell.decoded.margin()},
                                   {"high", cell.decoded.accept_length + cell.decoded.margin()}});
        }
    }
    return figure;
}

/// "block 2.84, then token-wise 2.81": the best and the second best method at the last temperature.
std::string best_at_last_temperature(const sweeps::StudiedTreeAnswer& tree) {
    const auto length = [](const sweeps::StudiedMethod& method) {
        const sweeps::StudiedCell& cell = method.cells.back();
        return cell.exact ? cell.exact->accept_length() : cell.decoded.accept_length;
    };
    const sweeps::StudiedMethod* best = nullptr;
    for (const sweeps::StudiedMethod& method : tree.methods) {
        if (method.method != sim::sampling::Method::greedy && (best == nullptr || length(method) > length(*best))) {
            best = &method;
        }
    }
    return fmt::format("At temperature {}, {} accepts most of {}: {} tokens per round.",
                       text::exact_text(best->cells.back().temperature), name_of(best->method), tree.tree.label,
                       text::fixed_text(length(*best), 2));
}

}  // namespace

std::string acceptance_html(const sweeps::AcceptanceStudyAnswer& answer) {
    FigureSection section{"acceptance",
                          "Accept length over temperature",
                          "Two small random language models, not a measurement: it tells methods and temperatures apart.",
                          {}};
    std::string sentence;
    for (std::size_t i = 0; i < answer.trees.size(); ++i) {
        section.figures.push_back(lengths_over_temperature(answer.trees[i], i + 1));
        sentence += (i > 0 ? " " : "") + best_at_last_temperature(answer.trees[i]);
    }
    return render_figures({"Acceptance of verification methods",
                           answer.study.title,
                           "How much each method accepts",
                           sentence,
                           {std::move(section)}});
}

}  // namespace treeline::reports
