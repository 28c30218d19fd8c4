#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/tree/tree_output.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

/// Tokens per round for each node drafted; nothing for a tree without nodes.
double per_node(double tokens, const sim::DraftTree& tree) { return tree.nodes() > 0 ? tokens / tree.nodes() : 0.0; }

std::string loss_text(const sim::EngineTree& engine, double accept_length) {
    if (engine.same) {
        return "the same tree";
    }
    const double loss = engine.loss(accept_length);
    const std::string also = engine.can_draft ? ", or the same" : "";
    return (loss >= 0.0 ? text::percent_text(loss) : "better by " + text::percent_text(-loss)) + also;
}

}  // namespace

std::string comparison_table(const std::vector<sweeps::ComparedTree>& trees) {
    text::TextTable table({{"Tree", text::Align::left},
                           {"nodes"},
                           {"depth"},
                           {"leaves"},
                           {"packed"},
                           {"unrolled"},
                           {"accept length"},
                           {"a node"},
                           {"accepted per node"}});
    text::TextTable engines({{"Tree", text::Align::left},
                             {"engine", text::Align::left},
                             {"best it can", text::Align::left},
                             {"nodes"},
                             {"accept length"},
                             {"loss"}});
    for (const sweeps::ComparedTree& each : trees) {
        const sim::DraftTree& tree = each.named.tree;
        const bool any = tree.nodes() > 0;
        table.add({each.named.label, std::to_string(tree.nodes()), std::to_string(tree.depth()), std::to_string(tree.leaves()),
                   std::to_string(tree.verified_tokens()), std::to_string(tree.unrolled_tokens()),
                   text::fixed_text(each.accept_length, 3), any ? text::fixed_text(per_node(each.accept_length, tree), 3) : "-",
                   any ? text::fixed_text(per_node(each.accept_length - 1.0, tree), 3) : "-"});
        for (const sim::EngineTree& engine : each.engines) {
            engines.add({&engine == &each.engines.front() ? each.named.label : "", engine.engine, sweeps::text_of(engine.shape),
                         std::to_string(engine.tree.nodes()), text::fixed_text(engine.accept_length, 3),
                         loss_text(engine, each.accept_length)});
        }
    }
    return table.text() + "\n" + engines.text() +
           "\nEngines: the best tree with no more nodes and levels. SGLang and TensorRT-LLM choose anew each round by the\n"
           "drafter's confidence; if that is calibrated, they yield more than the static tree priced here.\n";
}

std::string comparison_json(const std::vector<sweeps::ComparedTree>& trees) {
    Json rows = Json::array();
    for (const sweeps::ComparedTree& each : trees) {
        const sim::DraftTree& tree = each.named.tree;
        Json row = {{"tree", each.named.label},
                    {"parents", tree.parents()},
                    {"nodes", tree.nodes()},
                    {"depth", tree.depth()},
                    {"leaves", tree.leaves()},
                    {"packed_tokens", tree.verified_tokens()},
                    {"unrolled_tokens", tree.unrolled_tokens()},
                    {"accept_length", each.accept_length},
                    {"accept_length_per_node", tree.nodes() > 0 ? Json(per_node(each.accept_length, tree)) : Json()},
                    {"accepted_per_node", tree.nodes() > 0 ? Json(per_node(each.accept_length - 1.0, tree)) : Json()},
                    {"engines", Json::array()}};
        for (const sim::EngineTree& engine : each.engines) {
            row["engines"].push_back({{"engine", engine.engine},
                                      {"setting", sweeps::text_of(engine.shape)},
                                      {"parents", engine.tree.parents()},
                                      {"nodes", engine.tree.nodes()},
                                      {"accept_length", engine.accept_length},
                                      {"loss", engine.loss(each.accept_length)},
                                      {"same_tree", engine.same},
                                      {"drafts_same_tree", engine.can_draft}});
        }
        rows.push_back(std::move(row));
    }
    return Json{{"format", "treeline-tree-comparison"}, {"version", 1}, {"trees", rows}}.dump(2) + "\n";
}

std::string comparison_csv(const std::vector<sweeps::ComparedTree>& trees) {
    std::string text =
        text::csv_line({"tree", "engine", "setting", "nodes", "depth", "leaves", "unrolled_tokens", "accept_length", "loss"});
    const auto add = [&](const std::string& label, const std::string& engine, const std::string& setting,
                         const sim::DraftTree& tree, double length, double loss) {
        text += text::csv_line({label, engine, setting, std::to_string(tree.nodes()), std::to_string(tree.depth()),
                                std::to_string(tree.leaves()), std::to_string(tree.unrolled_tokens()), text::exact_text(length),
                                text::exact_text(loss)});
    };
    for (const sweeps::ComparedTree& each : trees) {
        add(each.named.label, "", "", each.named.tree, each.accept_length, 0.0);
        for (const sim::EngineTree& engine : each.engines) {
            add(each.named.label, engine.engine, sweeps::text_of(engine.shape), engine.tree, engine.accept_length,
                engine.loss(each.accept_length));
        }
    }
    return text;
}

}  // namespace treeline::reports
