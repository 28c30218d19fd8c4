#include "sim/trees/frontier_tree.h"

#include <algorithm>
#include <limits>

namespace treeline::sim {
namespace {

struct Candidate {
    int parent = -1;  ///< index among the candidates; -1 under the root
    double score = 1.0;
};

/// Running minima of the ranks 1 … top_k.
std::vector<double> falling(const RankAcceptance& order, int top_k) {
    std::vector<double> scores;
    double lowest = 1.0;
    for (int r = 1; r <= top_k; ++r) {
        lowest = std::min(lowest, order.rank(r));
        scores.push_back(lowest);
    }
    return scores;
}

/// The best `count` of candidates [begin, end), in the order in which they were found.
std::vector<int> best_of(const std::vector<Candidate>& candidates, std::size_t begin, std::size_t count) {
    std::vector<int> indices;
    for (std::size_t i = begin; i < candidates.size(); ++i) {
        indices.push_back(static_cast<int>(i));
    }
    std::stable_sort(indices.begin(), indices.end(), [&](int a, int b) {
        return candidates[static_cast<std::size_t>(a)].score > candidates[static_cast<std::size_t>(b)].score;
    });
    indices.resize(std::min(indices.size(), count));
    std::sort(indices.begin(), indices.end());
    return indices;
}

void add_children(std::vector<Candidate>& candidates, int parent, const std::vector<double>& by_rank) {
    const double score = parent < 0 ? 1.0 : candidates[static_cast<std::size_t>(parent)].score;
    for (const double acceptance : by_rank) {
        candidates.push_back({parent, score * acceptance});
    }
}

/// The tree of the kept candidates. A candidate comes after its parent and after siblings of lower rank, and none of these
/// scores less, so with it they are kept, too.
DraftTree tree_of(const std::vector<Candidate>& candidates, const std::vector<int>& kept) {
    std::vector<int> token_of(candidates.size(), 0);
    std::vector<int> parents;
    for (const int candidate : kept) {
        const int parent = candidates[static_cast<std::size_t>(candidate)].parent;
        parents.push_back(parent < 0 ? 0 : token_of[static_cast<std::size_t>(parent)]);
        token_of[static_cast<std::size_t>(candidate)] = static_cast<int>(parents.size());
    }
    return DraftTree::from_parents(parents);
}

}  // namespace

long long frontier_candidates(int levels, int top_k) { return levels <= 0 ? 0 : top_k + (levels - 1LL) * top_k * top_k; }

DraftTree grow_frontier_tree(int levels, int top_k, int nodes, const RankAcceptance& order) {
    const std::vector<double> by_rank = falling(order, top_k);
    std::vector<Candidate> candidates;
    std::vector<int> frontier = {-1};
    for (int level = 1; level <= levels; ++level) {
        const std::size_t begin = candidates.size();
        for (const int parent : frontier) {
            add_children(candidates, parent, by_rank);
        }
        frontier = best_of(candidates, begin, static_cast<std::size_t>(top_k));
    }
    return tree_of(candidates, best_of(candidates, 0, static_cast<std::size_t>(nodes)));
}

DraftTree grow_beam_tree(int beams, int steps, const RankAcceptance& order) {
    const std::vector<double> by_rank = falling(order, beams);
    std::vector<Candidate> candidates;
    std::vector<int> survivors = {-1}, kept;
    for (int step = 1; step <= steps; ++step) {
        const std::size_t begin = candidates.size();
        for (const int parent : survivors) {
            add_children(candidates, parent, by_rank);
        }
        survivors = best_of(candidates, begin, static_cast<std::size_t>(beams));
        kept.insert(kept.end(), survivors.begin(), survivors.end());
    }
    return tree_of(candidates, kept);
}

}  // namespace treeline::sim
