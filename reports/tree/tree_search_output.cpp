#include "reports/tree/tree_search_output.h"

#include <stdexcept>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/tree_drawing.h"
#include "reports/tree_search_figures.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline {
namespace {

using Json = nlohmann::ordered_json;

std::string where(const TreeSearchInput& input) {
    return fmt::format("{} with {} on {}, context {:.0f}", input.point.target.label, input.point.drafter->label,
                       label_of(input.point.platform), input.search.context);
}

DraftTree tree_of(const TreeSearchAnswer& answer, const TreeChoice& choice) {
    return build_tree(choice.speculation.shape, answer.input.point.drafter->acceptance.siblings);
}

std::string drawing(const TreeSearchAnswer& answer, const BestAtBatch& at) {
    const RankAcceptance& ranks = answer.input.point.drafter->acceptance.siblings;
    const DraftTree tree = tree_of(answer, at.tree);
    std::vector<std::string> labels;
    for (const double share : path_acceptance(tree, ranks)) {
        labels.push_back(share_text(share));
    }
    return fmt::format("\nBatch {:.0f}: {}\n", at.batch, choice_text(at.tree)) + tree_as_text(tree, std::move(labels));
}

Json choice_json(const TreeSearchAnswer& answer, const TreeChoice& choice) {
    const RoundEstimate& estimate = choice.estimate;
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

std::string search_table(const TreeSearchAnswer& answer) {
    TextTable table({{"Batch"},
                     {"best shape", Align::left},
                     {"verification", Align::left},
                     {"rollback", Align::left},
                     {"accept length"},
                     {"TPOT"},
                     {"speed-up"},
                     {"best chain", Align::left},
                     {"speed-up"}});
    for (const BestAtBatch& at : answer.best) {
        const TreeChoice& tree = at.tree;
        table.add({short_text(at.batch), choice_text(tree),
                   tree.nodes > 0 ? std::string(name_of(tree.speculation.verification)) : "-",
                   tree.nodes > 0 ? std::string(name_of(tree.rollback)) : "-", fixed_text(tree.estimate.accept_length, 3),
                   text_of(tree.estimate.time_per_token), ratio_text(tree.estimate.throughput_multiplier),
                   choice_text(at.chain), ratio_text(at.chain.estimate.throughput_multiplier)});
    }
    std::string text =
        fmt::format("{}\n\n{}\n{}", where(answer.input), wrapped(best_tree_sentence(answer.best), 110) + "\n", table.text());
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

std::string search_json(const TreeSearchAnswer& answer) {
    const TreeSearch& search = answer.input.search;
    Json json = {{"format", "treeline-tree-search"},
                 {"version", 1},
                 {"answer", best_tree_sentence(answer.best)},
                 {"context", search.context},
                 {"limits", {{"nodes", search.most_nodes}, {"depth", search.most_depth}, {"children", search.children}}},
                 {"batches", Json::array()}};
    for (const BestAtBatch& at : answer.best) {
        json["batches"].push_back(
            {{"batch", at.batch}, {"best", choice_json(answer, at.tree)}, {"best_chain", choice_json(answer, at.chain)}});
    }
    return json.dump(2) + "\n";
}

std::string search_csv(const TreeSearchAnswer& answer) {
    std::string text = csv_line({"batch", "nodes", "depth", "verification", "rollback", "accept_length", "tpot_ms", "speedup",
                                 "chain_draft_tokens", "chain_tpot_ms", "chain_speedup"});
    for (const BestAtBatch& at : answer.best) {
        text += csv_line({exact_text(at.batch), std::to_string(at.tree.nodes), std::to_string(at.tree.depth),
                          std::string(name_of(at.tree.speculation.verification)), std::string(name_of(at.tree.rollback)),
                          exact_text(at.tree.estimate.accept_length), exact_text(1e3 * at.tree.estimate.time_per_token.value()),
                          exact_text(at.tree.estimate.throughput_multiplier), std::to_string(at.chain.nodes),
                          exact_text(1e3 * at.chain.estimate.time_per_token.value()),
                          exact_text(at.chain.estimate.throughput_multiplier)});
    }
    return text;
}

std::string search_html(const TreeSearchAnswer& answer) {
    return render_figures({"The best draft tree by batch",
                           where(answer.input),
                           "Which tree to draft",
                           best_tree_sentence(answer.best),
                           {best_tree_section(answer.best, where(answer.input))}});
}

}  // namespace treeline
