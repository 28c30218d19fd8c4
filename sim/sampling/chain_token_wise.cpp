#include <algorithm>

#include "numerics/random.h"
#include "sim/sampling/chain.h"

namespace treeline::sim::sampling {
namespace {

void draw_round(const Models& models, int draft_tokens, int root, numerics::Random& random, DrawnRound& round) {
    int last = root;
    for (int i = 0; i < draft_tokens; ++i) {
        const std::span<const double> p = models.target.after(last), q = models.drafter.after(last);
        const int draft = draw(q, random);
        const auto at = static_cast<std::size_t>(draft);
        if (random.uniform() * q[at] >= p[at]) {
            const Probabilities rest = positive_difference(p, q);
            round.tokens.push_back(draw(sum(rest) > 0.0 ? std::span<const double>(rest) : p, random));
            round.all_rejected = true;
            return;
        }
        round.tokens.push_back(draft);
        round.ranks.push_back(1);
        last = draft;
    }
    round.tokens.push_back(draw(models.target.after(last), random));
}

/// One step of u; what is rejected on the way goes to `ended`.
Probabilities accepted_next(const Models& models, const Probabilities& accepted, Probabilities& ended) {
    Probabilities next(accepted.size(), 0.0);
    for (std::size_t x = 0; x < accepted.size(); ++x) {
        const std::span<const double> p = models.target.after(static_cast<int>(x)),
                                      q = models.drafter.after(static_cast<int>(x));
        for (std::size_t y = 0; y < accepted.size(); ++y) {
            next[y] += accepted[x] * std::min(p[y], q[y]);
            ended[y] += accepted[x] * std::max(p[y] - q[y], 0.0);
        }
    }
    return next;
}

}  // namespace

Round token_wise_round(const Models& models, int draft_tokens) {
    return [&models, draft_tokens](int root, numerics::Random& random, DrawnRound& round) {
        draw_round(models, draft_tokens, root, random, round);
    };
}

RoundLaw token_wise_law(const Models& models, int draft_tokens) {
    return [&models, draft_tokens](const Probabilities& roots) {
        ExpectedRound expected{{sum(roots)}, Probabilities(roots.size(), 0.0), {0.0}, 0.0};
        Probabilities accepted = roots;
        for (int i = 0; i < draft_tokens; ++i) {
            accepted = accepted_next(models, accepted, expected.next_root);
            expected.at_least.push_back(sum(accepted));
            expected.accepted_by_rank[0] += expected.at_least.back();
        }
        expected.none_accepted = expected.at_least.front() - expected.at_least.back();
        for (std::size_t x = 0; x < roots.size(); ++x) {
            const std::span<const double> p = models.target.after(static_cast<int>(x));
            for (std::size_t y = 0; y < roots.size(); ++y) {
                expected.next_root[y] += accepted[x] * p[y];
            }
        }
        return expected;
    };
}

}  // namespace treeline::sim::sampling
