#include <memory>

#include "numerics/random.h"
#include "sim/sampling/siblings.h"

namespace treeline::sim::sampling {
namespace {

/// Σ_x weights(x)·table(x, ·), added to `to`.
void add_product(const Probabilities& weights, const std::vector<double>& table, Probabilities& to) {
    const std::size_t width = weights.size();
    for (std::size_t x = 0; x < width; ++x) {
        if (weights[x] > 0.0) {
            for (std::size_t y = 0; y < width; ++y) {
                to[y] += weights[x] * table[x * width + y];
            }
        }
    }
}

ExpectedRound expected_round(const SiblingLaw& law, const DraftTree& tree, const Probabilities& roots) {
    ExpectedRound expected{std::vector<double>(static_cast<std::size_t>(tree.depth()) + 1, 0.0),
                           Probabilities(roots.size(), 0.0), std::vector<double>(law.accepted.size(), 0.0), 0.0};
    std::vector<Probabilities> reached(static_cast<std::size_t>(tree.verified_tokens()), Probabilities(roots.size(), 0.0));
    reached[0] = roots;
    for (int token = 0; token < tree.verified_tokens(); ++token) {
        const Probabilities& here = reached[static_cast<std::size_t>(token)];
        const double mass = sum(here);
        expected.at_least[static_cast<std::size_t>(tree.level(token))] += mass;
        if (token > 0) {
            expected.accepted_by_rank[static_cast<std::size_t>(tree.rank(token) - 1)] += mass;
        }
        Probabilities ended(roots.size(), 0.0);
        add_product(here, law.ended[static_cast<std::size_t>(tree.children(token))], ended);
        for (std::size_t y = 0; y < roots.size(); ++y) {
            expected.next_root[y] += ended[y];
        }
        expected.none_accepted += tree.children(token) > 0 ? sum(ended) : 0.0;
        for (int child = 0; child < tree.children(token); ++child) {
            add_product(here, law.accepted[static_cast<std::size_t>(child)],
                        reached[static_cast<std::size_t>(tree.first_child(token) + child)]);
        }
    }
    return expected;
}

}  // namespace

Round tree_round(DraftTree tree, SiblingStep step) {
    return [tree = std::move(tree), step = std::move(step)](int root, numerics::Random& random, DrawnRound& round) {
        int node = 0, last = root;
        while (tree.children(node) > 0) {
            const SiblingOutcome outcome = step(last, tree.children(node), random);
            round.tokens.push_back(outcome.token);
            if (outcome.rank == 0) {
                round.all_rejected = true;
                return;
            }
            round.ranks.push_back(outcome.rank);
            node = tree.first_child(node) + outcome.rank - 1;
            last = outcome.token;
        }
        round.tokens.push_back(step(last, 0, random).token);
    };
}

RoundLaw tree_law(SiblingLaw law, DraftTree tree) {
    const auto shared = std::make_shared<const SiblingLaw>(std::move(law));  // std::function copies what it holds
    return [shared, tree = std::move(tree)](const Probabilities& roots) { return expected_round(*shared, tree, roots); };
}

}  // namespace treeline::sim::sampling
