#include "reports/fpga/fpga_exploration_output.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/fpga/fpga_output.h"
#include "reports/json_rows.h"
#include "reports/provenance_output.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<text::Column> design_columns = {{"Tokens/s"},
                                                  {"round"},
                                                  {"tokens/J"},
                                                  {"used"},
                                                  {"DSP"},
                                                  {"tile"},
                                                  {"tokens"},
                                                  {"lanes"},
                                                  {"FIFO"},
                                                  {"drafter", text::Align::left},
                                                  {"tree", text::Align::left},
                                                  {"backtracking", text::Align::left}};

bool plain(const sweeps::FpgaExploration& exploration, const sweeps::FpgaCandidate& candidate) {
    return exploration.space.speculations[candidate.speculation].drafter.empty();
}

std::vector<std::string> row_of(const sweeps::FpgaExploration& exploration, const sweeps::FpgaCandidate& candidate) {
    const sweeps::FpgaSpeculation& how = exploration.space.speculations[candidate.speculation];
    const bool speculates = !plain(exploration, candidate);
    return {
        text::fixed_text(candidate.tokens_per_second, 2),
        text_of(candidate.round),
        candidate.tokens_per_joule > 0.0 ? text::fixed_text(candidate.tokens_per_joule, 2) : std::string(text::unknown_text),
        text::percent_text(candidate.utilisation),
        text::short_text(candidate.used.dsps),
        fmt::format("{} x {}", text::short_text(candidate.tile_inputs), text::short_text(candidate.tile_outputs)),
        text::short_text(candidate.tokens),
        text::short_text(candidate.lanes),
        speculates ? std::to_string(candidate.fifo_depth) : "",
        speculates ? how.drafter : "none",
        speculates ? how.tree_label : "",
        speculates ? std::string(name_of(exploration.space.plans[candidate.plan])) : ""};
}

std::string rows_text(const sweeps::FpgaExploration& exploration, const std::vector<sweeps::FpgaCandidate>& candidates) {
    text::TextTable table(design_columns);
    for (const sweeps::FpgaCandidate& candidate : candidates) {
        table.add(row_of(exploration, candidate));
    }
    return table.text("  ");
}

Json candidate_json(const sweeps::FpgaExploration& exploration, const sweeps::FpgaCandidate& candidate) {
    const sweeps::FpgaSpeculation& how = exploration.space.speculations[candidate.speculation];
    Json result = {{"tokens_per_second", candidate.tokens_per_second},
                   {"round_seconds", candidate.round.value()},
                   {"tokens_per_joule", candidate.tokens_per_joule > 0.0 ? Json(candidate.tokens_per_joule) : Json()},
                   {"utilisation", candidate.utilisation},
                   {"dsps", candidate.used.dsps},
                   {"luts", candidate.used.luts},
                   {"bram18s", candidate.used.bram18s},
                   {"urams", candidate.used.urams},
                   {"tile_inputs", candidate.tile_inputs},
                   {"tile_outputs", candidate.tile_outputs},
                   {"tokens", candidate.tokens},
                   {"lanes", candidate.lanes},
                   {"drafter", how.drafter.empty() ? Json() : Json(how.drafter)}};
    if (!how.drafter.empty()) {
        result["fifo_depth"] = candidate.fifo_depth;
        result["tree"] = how.tree_label;
        result["accept_length"] = how.accept_length;
        result["plan"] = name_of(exploration.space.plans[candidate.plan]);
    }
    return result;
}

Json candidates_json(const sweeps::FpgaExploration& exploration, const std::vector<sweeps::FpgaCandidate>& candidates) {
    Json list = Json::array();
    for (const sweeps::FpgaCandidate& candidate : candidates) {
        list.push_back(candidate_json(exploration, candidate));
    }
    return list;
}

}  // namespace

std::string exploration_table(const sweeps::FpgaExploration& exploration) {
    const sweeps::FpgaSearchResult& result = exploration.result;
    const sweeps::FpgaCandidate& best = result.best.front();
    const sweeps::FpgaSpeculation& how = exploration.space.speculations[best.speculation];
    std::string text = text::wrapped(
        fmt::format("Best for {} on {}: a tile of {} x {} weights for {} tokens and {} SSM lanes, {}: {} tokens/s.",
                    name_of(exploration.objective), exploration.base.board.name, text::short_text(best.tile_inputs),
                    text::short_text(best.tile_outputs), text::short_text(best.tokens), text::short_text(best.lanes),
                    plain(exploration, best) ? std::string("without speculation")
                                             : fmt::format("{} drafting {}", how.drafter, how.tree_label),
                    text::fixed_text(best.tokens_per_second, 2)),
        fpga_page_width);
    text += "\n\n" +
            text::wrapped(fmt::format("{} designs, {} of them beyond {} of the DSPs or LUTs, or beyond the memories, of {}.",
                                      text::grouped_text(static_cast<long long>(result.points)),
                                      text::grouped_text(static_cast<long long>(result.too_large)),
                                      text::percent_text(exploration.space.utilisation), exploration.base.board.title),
                          fpga_page_width) +
            "\n\n";
    text += fmt::format("Best by {}\n{}\n", name_of(exploration.objective), rows_text(exploration, result.best));
    text += fmt::format("Pareto set of tokens/s, tokens/J and the share used of the scarcest resource\n{}\n",
                        rows_text(exploration, result.pareto));
    return text + "Inputs: " + provenance_summary(exploration.base.provenance) + ".\n";
}

Json exploration_json(const sweeps::FpgaExploration& exploration, const Json& echo) {
    return {{"format", "treeline-fpga-exploration"},
            {"version", 1},
            {"input", echo},
            {"objective", name_of(exploration.objective)},
            {"designs", exploration.result.points},
            {"too_large", exploration.result.too_large},
            {"best", candidates_json(exploration, exploration.result.best)},
            {"pareto", candidates_json(exploration, exploration.result.pareto)},
            {"inputs", provenance_json(exploration.base.provenance)}};
}

std::string exploration_csv(const sweeps::FpgaExploration& exploration) {
    return csv_of({"tokens_per_second", "round_seconds", "tokens_per_joule", "utilisation", "dsps", "luts", "bram18s", "urams",
                   "tile_inputs", "tile_outputs", "tokens", "lanes", "fifo_depth", "drafter", "tree", "accept_length", "plan"},
                  candidates_json(exploration, exploration.result.pareto));
}

}  // namespace treeline::reports
