#include "sim/trees/optimal_tree.h"

#include <algorithm>

namespace treeline::sim {
namespace {

void require_range(std::vector<std::string>& problems, const std::string& what, int value, int low, int high) {
    if (value < low || value > high) {
        problems.push_back(what + " of the best tree must lie between " + std::to_string(low) + " and " + std::to_string(high) +
                           ", not " + std::to_string(value));
    }
}

/// One subtree of `size` tokens and value `subtree` as the child of this rank, for all m at once.
void offer(double subtree, std::size_t size, const std::vector<double>& without, std::vector<double>& best) {
    const double* const rest = without.data();
    double* const to = best.data() + size;
    const std::size_t count = best.size() - size;
    for (std::size_t i = 0; i < count; ++i) {
        const double candidate = subtree + rest[i];
        to[i] = candidate > to[i] ? candidate : to[i];
    }
}

}  // namespace

std::vector<std::string> problems(const TreeBudget& budget) {
    std::vector<std::string> problems;
    require_range(problems, "the nodes", budget.nodes, 0, most_optimal_nodes);
    require_range(problems, "the depth", budget.depth, 0, most_optimal_depth);
    require_range(problems, "the children per node", budget.children, 0, most_optimal_children);
    return problems;
}

OptimalTrees::OptimalTrees(const RankAcceptance& acceptance, TreeBudget budget)
    : budget_(budget), by_rank_(acceptance.by_rank()) {
    const int most = budget.children > 0 ? budget.children : most_optimal_children;
    by_rank_.resize(std::min(by_rank_.size(), static_cast<std::size_t>(most)));
    while (!by_rank_.empty() && by_rank_.back() <= 0.0) {
        by_rank_.pop_back();
    }
    const std::size_t ranks = by_rank_.size();
    gains_.assign(static_cast<std::size_t>(budget.depth) * (ranks + 1), Row(static_cast<std::size_t>(budget.nodes) + 1, 0.0));
    std::size_t largest_subtree = 1;  // beyond this a subtree of depth − 1 gains nothing from more tokens
    for (int depth = 1; depth <= budget.depth; ++depth) {
        for (std::size_t rank = ranks; rank-- > 0;) {
            Row& best = gains_[static_cast<std::size_t>(depth - 1) * (ranks + 1) + rank];
            const Row& without = gains(depth, static_cast<int>(rank) + 1);
            const std::size_t most_tokens = std::min(largest_subtree, static_cast<std::size_t>(budget.nodes));
            for (std::size_t tokens = 1; tokens <= most_tokens; ++tokens) {
                offer(by_rank_[rank] * value(static_cast<int>(tokens), depth - 1), tokens, without, best);
            }
        }
        largest_subtree = std::min<std::size_t>(1 + ranks * largest_subtree, most_optimal_nodes);
    }
}

const OptimalTrees::Row& OptimalTrees::gains(int depth, int rank) const {
    return gains_[static_cast<std::size_t>(depth - 1) * (by_rank_.size() + 1) + static_cast<std::size_t>(rank)];
}

double OptimalTrees::accept_length(int nodes, int depth) const {
    return depth == 0 ? 1.0 : 1.0 + gains(depth, 0)[static_cast<std::size_t>(nodes)];
}

std::vector<int> OptimalTrees::child_sizes(int below, int depth) const {
    std::vector<int> sizes;
    for (int rank = 0; depth > 0 && rank < static_cast<int>(by_rank_.size()); ++rank) {
        const double gain = gains(depth, rank)[static_cast<std::size_t>(below)];
        if (!(gain > 0.0)) {
            break;
        }
        const Row& without = gains(depth, rank + 1);
        int size = 1;
        while (by_rank_[static_cast<std::size_t>(rank)] * value(size, depth - 1) +
                   without[static_cast<std::size_t>(below - size)] !=
               gain) {
            ++size;
        }
        sizes.push_back(size);
        below -= size;
    }
    return sizes;
}

DraftTree OptimalTrees::tree(int nodes, int depth) const {
    struct Token {
        int below;
        int depth;
    };
    std::vector<Token> tokens = {{nodes, depth}};
    std::vector<int> child_counts;
    for (std::size_t at = 0; at < tokens.size(); ++at) {
        const Token token = tokens[at];
        const std::vector<int> sizes = child_sizes(token.below, token.depth);
        child_counts.push_back(static_cast<int>(sizes.size()));
        for (const int size : sizes) {
            tokens.push_back({size - 1, token.depth - 1});
        }
    }
    return DraftTree::from_child_counts(std::move(child_counts));
}

std::size_t OptimalTrees::table_bytes() const {
    return gains_.empty() ? 0 : gains_.size() * gains_.front().size() * sizeof(double);
}

}  // namespace treeline::sim
