#include <algorithm>
#include <cmath>

#include "numerics/random.h"
#include "sim/sampling/siblings.h"

namespace treeline::sim::sampling {
namespace {

constexpr double negligible = 1e-14;

/// The rank of the first sibling that holds `token`; 0 where none does.
int drafted_rank(const Models& models, SiblingDrafts drafts, int parent, int children, int token, numerics::Random& random) {
    Siblings siblings(models.drafter.after(parent), models.drafter.ranking_after(parent));
    for (int rank = 1; rank <= children && !siblings.exhausted(); ++rank) {
        const int draft = drafts == SiblingDrafts::best
                              ? models.drafter.ranking_after(parent)[static_cast<std::size_t>(rank - 1)]
                              : draw(siblings.next(), random);
        if (draft == token) {
            return rank;
        }
        if (drafts != SiblingDrafts::with_replacement) {
            siblings.remove(draft);
        }
    }
    return 0;
}

/// first[r][y] = P(y is first drafted as rank r + 1).
using FirstDrafted = std::vector<Probabilities>;

void follow(FirstDrafted& first, std::size_t drafted, double probability, const Siblings& siblings) {
    const Probabilities& q = siblings.next();
    for (std::size_t y = 0; y < q.size(); ++y) {
        const double here = probability * q[y];
        first[drafted][y] += here;
        if (drafted + 1 < first.size() && here > negligible) {
            Siblings left = siblings;
            left.remove(static_cast<int>(y));
            follow(first, drafted + 1, here, left);
        }
    }
}

FirstDrafted first_drafted(const Models& models, SiblingDrafts drafts, int parent, int children) {
    const std::span<const double> q = models.drafter.after(parent);
    const std::span<const int> ranking = models.drafter.ranking_after(parent);
    FirstDrafted first(static_cast<std::size_t>(children), Probabilities(q.size(), 0.0));
    if (drafts == SiblingDrafts::without_replacement && children > 0) {
        follow(first, 0, 1.0, Siblings(q, ranking));
        return first;
    }
    for (std::size_t rank = 0; rank < first.size(); ++rank) {
        for (std::size_t y = 0; y < q.size() && drafts == SiblingDrafts::with_replacement; ++y) {
            first[rank][y] = std::pow(1.0 - q[y], static_cast<double>(rank)) * q[y];
        }
        if (drafts == SiblingDrafts::best && rank < ranking.size()) {
            first[rank][static_cast<std::size_t>(ranking[rank])] = 1.0;
        }
    }
    return first;
}

}  // namespace

SiblingStep naive(const Models& models, SiblingDrafts drafts) {
    return [&models, drafts](int parent, int children, numerics::Random& random) {
        const int token = draw(models.target.after(parent), random);
        return SiblingOutcome{drafted_rank(models, drafts, parent, children, token, random), token};
    };
}

std::optional<SiblingLaw> naive_law(const Models& models, SiblingDrafts drafts, int children, double most_steps) {
    const int vocabulary = models.target.vocabulary();
    if (drafts == SiblingDrafts::without_replacement && children > 1 && std::pow(vocabulary, children + 1) > most_steps) {
        return std::nullopt;
    }
    const auto width = static_cast<std::size_t>(vocabulary);
    SiblingLaw law{vocabulary, {}, {}};
    law.accepted.resize(static_cast<std::size_t>(children), std::vector<double>(width * width, 0.0));
    law.ended.resize(static_cast<std::size_t>(children) + 1, std::vector<double>(width * width, 0.0));
    for (std::size_t parent = 0; parent < width; ++parent) {
        const std::span<const double> p = models.target.after(static_cast<int>(parent));
        const FirstDrafted first = first_drafted(models, drafts, static_cast<int>(parent), children);
        for (std::size_t y = 0; y < width; ++y) {
            double missing = 1.0;
            law.ended[0][parent * width + y] = p[y];
            for (std::size_t rank = 0; rank < first.size(); ++rank) {
                missing -= first[rank][y];
                law.accepted[rank][parent * width + y] = p[y] * first[rank][y];
                law.ended[rank + 1][parent * width + y] = p[y] * std::max(missing, 0.0);
            }
        }
    }
    return law;
}

}  // namespace treeline::sim::sampling
