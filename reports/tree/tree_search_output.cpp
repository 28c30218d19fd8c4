#include "reports/tree/tree_search_output.h"

#include <stdexcept>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/tree_drawing.h"
#include "reports/tree_search_figures.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

std::string where(const sweeps::TreeSearchInput& input) {
    return fmt::format("{} with {} on {}, context {:.0f}", input.point.target.label, input.point.drafter->label,
                       sweeps::label_of(input.point.platform), input.search.context);
}

sim::DraftTree tree_of(const sweeps::TreeSearchAnswer& answer, const sweeps::TreeChoice& choice) {
    return sim::build_tree(choice.speculation.shape, answer.input.point.drafter->acceptance.siblings);
}

std::string drawing(const sweeps::TreeSearchAnswer& answer, const sweeps::BestAtBatch& at) {
    const sim::RankAcceptance& ranks = answer.input.point.drafter->acceptance.siblings;
    const sim::DraftTree tree = tree_of(answer, at.tree);
    std::vector<std::string> labels;
    for (const double share : sim::path_acceptance(tree, ranks)) {
        labels.push_back(text::share_text(share));
    }
    return fmt::format("\nBatch {:.0f}: {}\n", at.batch, choice_text(at.tree)) + tree_as_text(tree, std::move(labels));
}

Json choice_json(const sweeps::TreeSearchAnswer& answer, const sweeps::TreeChoice& choice) {
    const sim::RoundEstimate& estimate = choice.estimate;
    Json json = {{"shape", choice.speculation.label}, {"nodes", choice.nodes}, {"depth", choice.depth}};
    json["parents"] = tree_of(answer, choice).parents();
    json["verification"] = name_of(choice.speculation.verification);
    json["rollback"] = name_of(choice.rollback);
    json["accept_length"] = estimate.accept_length;
    json["tpot_ms"] = estimate.time_per_token.value() * 1e3;
    json["round_ms"] = estimate.round.value() * 1e3;
    json["speedup"] = estimate.throughput_multiplier;
    json["memory_gb"] = estimate.memory.value() / 1e9;
    return json;
}

}  // namespace

std::string search_table(const sweeps::TreeSearchAnswer& answer) {
    text::TextTable table({{"Batch"},
                           {"best shape", text::Align::left},
                           {"verification", text::Align::left},
                           {"rollback", text::Align::left},
                           {"accept length"},
                           {"TPOT"},
                           {"speed-up"},
                           {"best chain", text::Align::left},
                           {"speed-up"}});
    for (const sweeps::BestAtBatch& at : answer.best) {
        const sweeps::TreeChoice& tree = at.tree;
        table.add({text::short_text(at.batch), choice_text(tree),
                   tree.nodes > 0 ? std::string(name_of(tree.speculation.verification)) : "-",
                   tree.nodes > 0 ? std::string(name_of(tree.rollback)) : "-", text::fixed_text(tree.estimate.accept_length, 3),
                   text_of(tree.estimate.time_per_token), text::ratio_text(tree.estimate.throughput_multiplier),
                   choice_text(at.chain), text::ratio_text(at.chain.estimate.throughput_multiplier)});
    }
    std::string text = fmt::format("{}\n\n{}\n{}", where(answer.input),
                                   text::wrapped(best_tree_sentence(answer.best), 110) + "\n", table.text());
    if (answer.best.size() < answer.input.search.batches.size()) {
        text += fmt::format("{} of {} batches do not fit in memory.\n", answer.input.search.batches.size() - answer.best.size(),
                            answer.input.search.batches.size());
    }
    if (!answer.best.empty()) {
        text += drawing(answer, answer.best.front());
        if (answer.best.back().tree.nodes != answer.best.front().tree.nodes && answer.best.back().tree.nodes > 0) {
            text += drawing(answer, answer.best.back());
        }
        text += "\nNumbers: P(the token is accepted).\n";
    }
    return text;
}

std::string search_json(const sweeps::TreeSearchAnswer& answer) {
    const sweeps::TreeSearch& search = answer.input.search;
    Json json = {{"format", "treeline-tree-search"},
                 {"version", 1},
                 {"answer", best_tree_sentence(answer.best)},
                 {"context", search.context},
                 {"limits", {{"nodes", search.most_nodes}, {"depth", search.most_depth}, {"children", search.children}}},
                 {"batches", Json::array()}};
    for (const sweeps::BestAtBatch& at : answer.best) {
        json["batches"].push_back(
            {{"batch", at.batch}, {"best", choice_json(answer, at.tree)}, {"best_chain", choice_json(answer, at.chain)}});
    }
    return json.dump(2) + "\n";
}

std::string search_csv(const sweeps::TreeSearchAnswer& answer) {
    std::string text = text::csv_line({"batch", "nodes", "depth", "verification", "rollback", "accept_length", "tpot_ms",
                                       "speedup", "chain_draft_tokens", "chain_tpot_ms", "chain_speedup"});
    for (const sweeps::BestAtBatch& at : answer.best) {
        text += text::csv_line({text::exact_text(at.batch), std::to_string(at.tree.nodes), std::to_string(at.tree.depth),
                                std::string(name_of(at.tree.speculation.verification)), std::string(name_of(at.tree.rollback)),
                                text::exact_text(at.tree.estimate.accept_length),
                                text::exact_text(1e3 * at.tree.estimate.time_per_token.value()),
                                text::exact_text(at.tree.estimate.throughput_multiplier), std::to_string(at.chain.nodes),
                                text::exact_text(1e3 * at.chain.estimate.time_per_token.value()),
                                text::exact_text(at.chain.estimate.throughput_multiplier)});
    }
    return text;
}

std::string search_html(const sweeps::TreeSearchAnswer& answer) {
    return render_figures({"The best draft tree by batch",
                           where(answer.input),
                           "Which tree to draft",
                           best_tree_sentence(answer.best),
                           {best_tree_section(answer.best, where(answer.input))}});
}

}  // namespace treeline::reports
