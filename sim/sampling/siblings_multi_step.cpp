#include <algorithm>
#include <cmath>

#include "numerics/random.h"
#include "sim/sampling/siblings.h"

namespace treeline::sim::sampling {
namespace {

constexpr double negligible = 1e-14;

/// What rejection from q leaves of p, normalised; p itself where rounding leaves nothing.
Probabilities after_rejection(const Probabilities& p, std::span<const double> q) {
    Probabilities rest = positive_difference(p, q);
    return normalise(rest) > 0.0 ? rest : p;
}

SiblingOutcome draw_outcome(const Models& models, bool replace, int parent, int children, numerics::Random& random) {
    const std::span<const double> target = models.target.after(parent);
    Probabilities p(target.begin(), target.end());
    Siblings siblings(models.drafter.after(parent), models.drafter.ranking_after(parent));
    for (int rank = 1; rank <= children && !siblings.exhausted(); ++rank) {
        const Probabilities& q = siblings.next();
        const int draft = draw(q, random);
        const auto at = static_cast<std::size_t>(draft);
        if (random.uniform() * q[at] < p[at]) {
            return {rank, draft};
        }
        p = after_rejection(p, q);
        if (!replace) {
            siblings.remove(draft);
        }
    }
    return {0, draw(p, random)};
}

/// The tables of one parent token, filled in along every sequence of rejected drafts.
class Sequences {
public:
    Sequences(SiblingLaw& law, int parent, int children)
        : law_(law), row_(static_cast<std::size_t>(parent * law.vocabulary)), children_(static_cast<std::size_t>(children)) {}

    /// `rejected` drafts were rejected so far, in this order, with this probability.
    void follow(std::size_t rejected, double probability, const Probabilities& p, const Siblings& siblings) {
        if (siblings.exhausted()) {
            return;
        }
        const Probabilities& q = siblings.next();
        double rejects = 0.0;
        for (std::size_t y = 0; y < p.size(); ++y) {
            law_.accepted[rejected][row_ + y] += probability * std::min(p[y], q[y]);
            rejects += std::max(q[y] - p[y], 0.0);
        }
        const Probabilities rest = after_rejection(p, q);
        add_ended(rejected + 1, probability * rejects, rest);
        if (rejected + 1 == children_) {
            return;
        }
        for (std::size_t y = 0; y < p.size(); ++y) {
            if (const double rejected_here = probability * (q[y] - p[y]); rejected_here > negligible) {
                Siblings left = siblings;
                left.remove(static_cast<int>(y));
                follow(rejected + 1, rejected_here, rest, left);
            }
        }
    }

    void follow_with_replacement(Probabilities p, std::span<const double> q) {
        double probability = 1.0;
        for (std::size_t rejected = 0; rejected < children_; ++rejected) {
            double rejects = 0.0;
            for (std::size_t y = 0; y < p.size(); ++y) {
                law_.accepted[rejected][row_ + y] = probability * std::min(p[y], q[y]);
                rejects += std::max(q[y] - p[y], 0.0);
            }
            p = after_rejection(p, q);
            probability *= rejects;
            add_ended(rejected + 1, probability, p);
        }
    }

    void add_ended(std::size_t children, double probability, const Probabilities& p) {
        for (std::size_t y = 0; y < p.size(); ++y) {
            law_.ended[children][row_ + y] += probability * p[y];
        }
    }

private:
    SiblingLaw& law_;
    std::size_t row_, children_;
};

}  // namespace

SiblingStep multi_step(const Models& models, SiblingDrafts drafts) {
    const bool replace = drafts == SiblingDrafts::with_replacement;
    return [&models, replace](int parent, int children, numerics::Random& random) {
        return draw_outcome(models, replace, parent, children, random);
    };
}

std::optional<SiblingLaw> multi_step_law(const Models& models, SiblingDrafts drafts, int children, double most_steps) {
    const int vocabulary = models.target.vocabulary();
    const bool replace = drafts == SiblingDrafts::with_replacement;
    if (!replace && children > 1 && std::pow(vocabulary, children + 1) > most_steps) {
        return std::nullopt;
    }
    const std::vector<double> empty(static_cast<std::size_t>(vocabulary * vocabulary), 0.0);
    SiblingLaw law{vocabulary, {}, {empty}};
    law.accepted.resize(static_cast<std::size_t>(children), empty);
    law.ended.resize(static_cast<std::size_t>(children) + 1, empty);
    for (int parent = 0; parent < vocabulary; ++parent) {
        const std::span<const double> target = models.target.after(parent), q = models.drafter.after(parent);
        const Probabilities p(target.begin(), target.end());
        Sequences sequences(law, parent, children);
        sequences.add_ended(0, 1.0, p);
        if (replace) {
            sequences.follow_with_replacement(p, q);
        } else if (children > 0) {
            sequences.follow(0, 1.0, p, Siblings(q, models.drafter.ranking_after(parent)));
        }
    }
    return law;
}

}  // namespace treeline::sim::sampling
