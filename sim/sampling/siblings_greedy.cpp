#include "numerics/random.h"
#include "sim/sampling/siblings.h"

namespace treeline::sim::sampling {
namespace {

/// The rank that the drafter gives to the target's best token.
int rank_of_best(const Models& models, int parent) {
    const std::span<const int> ranking = models.drafter.ranking_after(parent);
    const int best = models.target.ranking_after(parent).front();
    int rank = 1;
    while (ranking[static_cast<std::size_t>(rank - 1)] != best) {
        ++rank;
    }
    return rank;
}

}  // namespace

SiblingStep greedy(const Models& models) {
    return [&models](int parent, int children, numerics::Random& /*unused: nothing is random*/) {
        const int rank = rank_of_best(models, parent);
        return SiblingOutcome{rank <= children ? rank : 0, models.target.ranking_after(parent).front()};
    };
}

SiblingLaw greedy_law(const Models& models, int children) {
    const auto width = static_cast<std::size_t>(models.target.vocabulary());
    const std::vector<double> empty(width * width, 0.0);
    SiblingLaw law{models.target.vocabulary(), {}, {}};
    law.accepted.resize(static_cast<std::size_t>(children), empty);
    law.ended.resize(static_cast<std::size_t>(children) + 1, empty);
    for (std::size_t parent = 0; parent < width; ++parent) {
        const int rank = rank_of_best(models, static_cast<int>(parent));
        const std::size_t cell =
            parent * width + static_cast<std::size_t>(models.target.ranking_after(static_cast<int>(parent)).front());
        for (int n = 0; n <= children; ++n) {
            law.ended[static_cast<std::size_t>(n)][cell] = rank > n ? 1.0 : 0.0;
        }
        if (rank <= children) {
            law.accepted[static_cast<std::size_t>(rank - 1)][cell] = 1.0;
        }
    }
    return law;
}

}  // namespace treeline::sim::sampling
