#include "decoder/given_acceptance.h"

#include "numerics/random.h"

namespace treeline::decoder {
namespace {

/// P(the child of this rank is accepted | its parent, on `level`, was).
double conditional_rate(const GivenAcceptance& given, int level, int rank) {
    const auto position = static_cast<std::size_t>(level);
    if (!given.per_rank.empty()) {
        const auto index = static_cast<std::size_t>(rank - 1);
        return index < given.per_rank.size() ? given.per_rank[index] : 0.0;
    }
    const double so_far = level == 0 ? 1.0 : given.per_position[position - 1];
    return rank == 1 && so_far > 0.0 ? given.per_position[position] / so_far : 0.0;
}

}  // namespace

std::vector<int> accepted_by_chance(const sim::DraftTree& tree, const GivenAcceptance& given, numerics::Random& random) {
    std::vector<int> path = {0};
    while (true) {
        const int parent = path.back(), children = tree.children(parent);
        double uniform = random.uniform();
        int rank = 1;
        for (; rank <= children; ++rank) {
            uniform -= conditional_rate(given, tree.level(parent), rank);
            if (uniform < 0.0) {
                break;
            }
        }
        if (rank > children) {
            return path;
        }
        path.push_back(tree.first_child(parent) + rank - 1);
    }
}

}  // namespace treeline::decoder
