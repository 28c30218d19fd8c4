#include "reports/tree_search_figures.h"

#include <fmt/format.h>

#include "text/number_text.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

Json row_of(const char* kind, double batch, const sweeps::TreeChoice& choice) {
    return {{"kind", kind},
            {"batch", batch},
            {"speedup", choice.estimate.throughput_multiplier},
            {"nodes", choice.nodes},
            {"levels", choice.depth},
            {"accept_length", choice.estimate.accept_length},
            {"tpot_ms", choice.estimate.time_per_token.value() * 1e3},
            {"verification", choice.nodes > 0 ? name_of(choice.speculation.verification) : "-"},
            {"rollback", name_of(choice.rollback)}};
}

Figure figure_of(const char* id, const char* title, const char* reading, FigureAxis y, const Json& rows) {
    Figure figure;
    figure.id = id;
    figure.title = title;
    figure.reading = reading;
    figure.x = {"batch", "Batch", true};
    figure.y = std::move(y);
    figure.series = "kind";
    figure.columns = {{"kind", "Shape"},
                      {"batch", "Batch"},
                      {"speedup", "Speed-up", "×", 2},
                      {"nodes", "Nodes"},
                      {"levels", "Levels"},
                      {"accept_length", "Accept length", "", 2},
                      {"tpot_ms", "TPOT", "ms", 2},
                      {"verification", "Verification"},
                      {"rollback", "Rollback"}};
    figure.rows = rows;
    return figure;
}

}  // namespace

std::string choice_text(const sweeps::TreeChoice& choice) {
    if (choice.nodes == 0) {
        return "none";
    }
    if (choice.nodes == choice.depth) {
        return fmt::format("chain of {}", choice.nodes);
    }
    return fmt::format("{} nodes on {} level{}", choice.nodes, choice.depth, choice.depth == 1 ? "" : "s");
}

std::string best_tree_sentence(const std::vector<sweeps::BestAtBatch>& best) {
    const auto described = [](const sweeps::BestAtBatch& at) {
        std::string text = fmt::format("at batch {:.0f} ", at.batch);
        if (at.tree.nodes == 0) {
            return text + "plain decoding is fastest";
        }
        text += fmt::format("the best shape is {} ({})", choice_text(at.tree),
                            text::ratio_text(at.tree.estimate.throughput_multiplier));
        if (at.tree.nodes > at.tree.depth) {
            text +=
                at.chain.nodes == 0
                    ? ", and no chain pays"
                    : fmt::format(", {} ahead of the best chain ({})",
                                  text::percent_text(
                                      at.chain.estimate.time_per_token.value() / at.tree.estimate.time_per_token.value() - 1.0),
                                  choice_text(at.chain));
        }
        return text;
    };
    if (best.empty()) {
        return "Plain decoding does not fit in memory at any of the batches.";
    }
    std::string text = described(best.front());
    text[0] = 'A';
    return best.size() == 1 ? text + "." : text + "; " + described(best.back()) + ".";
}

FigureSection best_tree_section(const std::vector<sweeps::BestAtBatch>& best, const std::string& where) {
    Json rows = Json::array();
    for (const sweeps::BestAtBatch& at : best) {
        rows.push_back(row_of("best shape", at.batch, at.tree));
    }
    for (const sweeps::BestAtBatch& at : best) {
        rows.push_back(row_of("best chain", at.batch, at.chain));
    }
    Figure speed = figure_of("best-tree-speed", "Speed-up of the best shape and the best chain",
                             "Where the lines meet, branches no longer pay; at 1 plain decoding is as fast.",
                             {"speedup", "Speed-up (times plain decoding)"}, rows);
    speed.rules = {{1.0, "plain decoding"}};
    Figure size = figure_of("best-tree-size", "Draft tokens of the best shape and the best chain",
                            "Each point is the number of nodes that is fastest at that batch; 0 is plain decoding.",
                            {"nodes", "Draft tokens (nodes)", false, true}, rows);
    size.steps = true;
    return {"best-tree",
            "The best tree at each batch",
            fmt::format("{}: {} For each size the best tree is exact for the acceptance by rank; the fastest size is chosen.",
                        where, best_tree_sentence(best)),
            {std::move(speed), std::move(size)}};
}

}  // namespace treeline::reports
