#include "sim/fpga/tree_work.h"

#include <algorithm>

namespace treeline::sim::fpga {
namespace {

double different_parents(const DraftTree& tree, std::pair<int, int> tokens) {
    double count = 0.0;
    for (int token = tokens.first; token < tokens.second; ++token) {
        count += token == tokens.first || tree.parent(token) != tree.parent(token - 1) ? 1.0 : 0.0;
    }
    return count;
}

bool alike(const DraftStep& a, const DraftStep& b) {
    return !a.first && !b.first && a.tokens == b.tokens && a.parents == b.parents && a.replayed == b.replayed;
}

}  // namespace

TreeWork tree_work(const DraftTree& tree, const IssueRules& rules, Backtracking plan) {
    TreeWork work;
    work.verified_tokens = tree.verified_tokens();
    work.nodes = tree.nodes();
    work.depth = tree.depth();
    work.parents = different_parents(tree, {0, tree.verified_tokens()});
    const std::vector<int> parents = verified_parents(tree);
    work.schedule = issue_schedule(parents, rules);
    work.issue_cycles = issue_cycles_by_group(parents, rules);
    double earlier = 0.0;
    for (int level = 0; level < tree.depth(); ++level) {
        DraftStep step;
        step.tokens = tree.nodes_at(level);
        step.parents = different_parents(tree, tree.level_range(level));
        step.first = level == 0;
        step.replayed = plan == Backtracking::recompute ? earlier : 0.0;
        earlier += step.tokens;
        const auto known =
            std::find_if(work.draft.begin(), work.draft.end(), [&](const DraftStep& other) { return alike(other, step); });
        if (known != work.draft.end()) {
            known->runs += 1.0;
        } else {
            work.draft.push_back(step);
        }
    }
    return work;
}

}  // namespace treeline::sim::fpga
