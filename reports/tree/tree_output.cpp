#include "reports/tree/tree_output.h"
#include "reports/json_rows.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/tree_drawing.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t page_width = 110;

std::string joined(const std::vector<int>& numbers) { return fmt::format("{}", fmt::join(numbers, ", ")); }

std::vector<std::string> labels_of(const sim::DraftTree& tree, const std::optional<sim::RankAcceptance>& acceptance) {
    std::vector<std::string> labels;
    if (acceptance) {
        for (const double share : sim::path_acceptance(tree, *acceptance)) {
            labels.push_back(text::share_text(share));
        }
    }
    return labels;
}

/// "name   value" lines, long values wrapped in their column.
class Facts {
public:
    void add(std::string name, std::string value) {
        names_ = std::max(names_, name.size());
        facts_.emplace_back(std::move(name), std::move(value));
    }
    [[nodiscard]] std::string text() const {
        text::FactList list;
        for (const auto& [name, value] : facts_) {
            list.add(name, text::wrapped(value, page_width - names_ - 2, std::string(names_ + 2, ' ')));
        }
        return list.text();
    }

private:
    std::vector<std::pair<std::string, std::string>> facts_;
    std::size_t names_ = 0;
};

std::string counted(int count, const std::string& what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

void add_counts(Facts& facts, const sim::DraftTree& tree) {
    facts.add("Nodes", fmt::format("{} (root excluded) on {}", tree.nodes(), counted(tree.depth(), "level")));
    facts.add("Levels", tree.nodes() == 0 ? "-" : joined(tree.level_widths()));
    facts.add("Leaves", std::to_string(tree.leaves()));
    facts.add("Packed", counted(tree.verified_tokens(), "token") + " verified, 1 state");
    facts.add("Unrolled", fmt::format("{} ({} repeated), {}", counted(tree.unrolled_tokens(), "token"),
                                      tree.unrolled_tokens() - tree.verified_tokens(), counted(tree.leaves(), "state")));
}

void add_acceptance(Facts& facts, const sim::DraftTree& tree, const sim::RankAcceptance& acceptance) {
    const double length = accept_length(tree, acceptance);
    facts.add("Accept length",
              fmt::format("{} of at most {}, bonus token included", text::fixed_text(length, 3), tree.depth() + 1));
    std::string shares;
    const std::vector<double> at_least = sim::accepted_at_least(tree, acceptance);
    for (std::size_t i = 1; i < at_least.size(); ++i) {
        shares += (i > 1 ? ", " : "") + text::fixed_text(at_least[i], 3);
    }
    facts.add("P(1, 2, ... drafts)", shares.empty() ? "-" : shares);
    if (tree.most_children() > acceptance.ranks()) {
        facts.add("Ranks",
                  fmt::format(
                      "the tree has {} siblings, but acceptance is known for {} ranks; the others are taken as never accepted",
                      tree.most_children(), acceptance.ranks()));
    }
}

std::string mask_text(const sim::DraftTree& tree) {
    const sim::AncestorMask mask = tree.ancestor_mask();
    std::string text = "\nAncestor mask (row: token, column: token it attends to)\n";
    for (int token = 0; token < mask.tokens; ++token) {
        for (int other = 0; other < mask.tokens; ++other) {
            text += mask.at(token, other) ? '1' : '.';
        }
        text += '\n';
    }
    return text;
}

Json counts_json(const sim::DraftTree& tree) {
    return {{"nodes", tree.nodes()},
            {"depth", tree.depth()},
            {"level_widths", tree.level_widths()},
            {"leaves", tree.leaves()},
            {"packed", {{"tokens", tree.verified_tokens()}, {"states", 1}}},
            {"unrolled", {{"tokens", tree.unrolled_tokens()}, {"states", tree.leaves()}}}};
}

Json mask_json(const sim::DraftTree& tree) {
    const sim::AncestorMask mask = tree.ancestor_mask();
    Json rows = Json::array();
    for (int token = 0; token < mask.tokens; ++token) {
        std::string row;
        for (int other = 0; other < mask.tokens; ++other) {
            row += mask.at(token, other) ? '1' : '0';
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

Json budgets_json(const sweeps::BestTrees& answer) {
    Json budgets = Json::array();
    for (const sweeps::BestTree& each : answer.best) {
        budgets.push_back({{"budget", each.budget},
                           {"nodes", each.tree.nodes()},
                           {"depth", each.tree.depth()},
                           {"leaves", each.tree.leaves()},
                           {"accept_length", each.accept_length},
                           {"chain_accept_length", each.chain_accept_length},
                           {"parents", each.tree.parents()}});
    }
    return budgets;
}

}  // namespace

std::string tree_table(const sweeps::TreeAnswer& answer) {
    const sim::DraftTree& tree = answer.named.tree;
    Facts facts;
    facts.add("Tree", answer.named.label);
    if (!answer.named.title.empty()) {
        facts.add("Title", answer.named.title);
    }
    if (!answer.named.source.empty()) {
        facts.add("Source", answer.named.source);
    }
    add_counts(facts, tree);
    if (answer.acceptance) {
        add_acceptance(facts, tree, *answer.acceptance);
    }
    std::string text = facts.text() + "\n" + tree_as_text(tree, labels_of(tree, answer.acceptance)) + "\n" +
                       (answer.acceptance ? "Numbers: P(the token is accepted).\n" : "Numbers: tokens; 0 is the root.\n");
    if (answer.named.assumed_order) {
        text +=
            "Which candidates are kept depends on the drafter; this is the tree for ranks that halve (p_r = 2^-r). Give "
            "--ranks.\n";
    }
    return text + (answer.mask ? mask_text(tree) : "");
}

std::string tree_json(const sweeps::TreeAnswer& answer) {
    const sim::DraftTree& tree = answer.named.tree;
    Json json = {{"format", "treeline-tree"}, {"version", 1}, {"tree", answer.named.label}};
    if (!answer.named.title.empty()) {
        json["title"] = answer.named.title;
    }
    json["parents"] = tree.parents();
    json.update(counts_json(tree));
    if (answer.acceptance) {
        json["accept_length"] = accept_length(tree, *answer.acceptance);
        json["accepted_at_least"] = sim::accepted_at_least(tree, *answer.acceptance);
        json["accepted_exactly"] = sim::accepted_exactly(tree, *answer.acceptance);
        json["path_acceptance"] = sim::path_acceptance(tree, *answer.acceptance);
        json["ranks"] = answer.acceptance->by_rank();
    }
    json["assumed_order"] = answer.named.assumed_order;
    if (answer.mask) {
        json["ancestor_mask"] = mask_json(tree);
    }
    return json.dump(2) + "\n";
}

std::string tree_csv(const sweeps::TreeAnswer& answer) {
    const sim::DraftTree& tree = answer.named.tree;
    std::vector<std::string> titles = {"token", "parent", "rank", "level", "children"};
    std::vector<double> f;
    if (answer.acceptance) {
        titles.emplace_back("path_acceptance");
        f = sim::path_acceptance(tree, *answer.acceptance);
    }
    std::string text = text::csv_line(titles);
    for (int token = 0; token < tree.verified_tokens(); ++token) {
        std::vector<std::string> fields;
        for (const int value : {token, tree.parent(token), tree.rank(token), tree.level(token), tree.children(token)}) {
            fields.push_back(std::to_string(value));
        }
        if (!f.empty()) {
            fields.push_back(text::exact_text(f[static_cast<std::size_t>(token)]));
        }
        text += text::csv_line(fields);
    }
    return text;
}

std::string best_trees_table(const sweeps::BestTrees& answer) {
    text::TextTable table({{"Budget"}, {"nodes"}, {"depth"}, {"leaves"}, {"accept length"}, {"gain per node"}, {"chain"}});
    double before = 1.0;
    int nodes_before = 0;
    for (const sweeps::BestTree& best : answer.best) {
        const int more = best.tree.nodes() - nodes_before;
        table.add({std::to_string(best.budget), std::to_string(best.tree.nodes()), std::to_string(best.tree.depth()),
                   std::to_string(best.tree.leaves()), text::fixed_text(best.accept_length, 3),
                   more > 0 ? text::fixed_text((best.accept_length - before) / more, 4) : "-",
                   text::fixed_text(best.chain_accept_length, 3)});
        before = best.accept_length;
        nodes_before = best.tree.nodes();
    }
    const sim::DraftTree& tree = answer.best.back().tree;
    Facts facts;
    facts.add("Best tree of",
              fmt::format("at most {} nodes, {} levels, {} children per node", answer.limits.nodes, answer.limits.depth,
                          answer.limits.children > 0 ? answer.limits.children : answer.acceptance.ranks()));
    add_counts(facts, tree);
    add_acceptance(facts, tree, answer.acceptance);
    return facts.text() + "\n" + tree_as_text(tree, labels_of(tree, answer.acceptance)) +
           "\nNumbers: P(the token is accepted).\n\n" + table.text() +
           "\nGain per node: accept length gained per additional node over the line above. Chain: accept length of a chain\n"
           "with no more nodes and levels. Time is not considered here.\n";
}

std::string best_trees_json(const sweeps::BestTrees& answer) {
    const sweeps::BestTree& best = answer.best.back();
    Json json = {{"format", "treeline-tree"},
                 {"version", 1},
                 {"tree", sweeps::text_of(answer.limits)},
                 {"parents", best.tree.parents()}};
    json.update(counts_json(best.tree));
    json["accept_length"] = best.accept_length;
    json["path_acceptance"] = sim::path_acceptance(best.tree, answer.acceptance);
    json["ranks"] = answer.acceptance.by_rank();
    json["budgets"] = budgets_json(answer);
    return json.dump(2) + "\n";
}

std::string best_trees_csv(const sweeps::BestTrees& answer) {
    return csv_of({"budget", "nodes", "depth", "leaves", "accept_length", "chain_accept_length"}, budgets_json(answer));
}

}  // namespace treeline::reports
