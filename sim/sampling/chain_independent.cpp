#include <algorithm>
#include <cmath>

#include "numerics/random.h"
#include "sim/sampling/chain.h"

namespace treeline::sim::sampling {
namespace {

void draw_round(const Models& models, int draft_tokens, int drafts, int root, numerics::Random& random, DrawnRound& round) {
    int last = root, agreeing = drafts;
    for (int i = 0; i < draft_tokens; ++i) {
        const int token = draw(models.target.after(last), random);
        int go_on = 0;
        for (int chain = 0; chain < agreeing; ++chain) {
            go_on += draw(models.drafter.after(last), random) == token ? 1 : 0;
        }
        round.tokens.push_back(token);
        if (go_on == 0) {
            round.all_rejected = true;
            return;
        }
        round.ranks.push_back(1);
        agreeing = go_on;
        last = token;
    }
    round.tokens.push_back(draw(models.target.after(last), random));
}

/// P(m of `trials` succeed), m = 0 … trials.
std::vector<double> binomial(int trials, double success) {
    std::vector<double> probability(static_cast<std::size_t>(trials) + 1, 0.0);
    probability[0] = 1.0;
    for (int trial = 1; trial <= trials; ++trial) {
        for (auto m = static_cast<std::size_t>(trial); m > 0; --m) {
            probability[m] = probability[m] * (1.0 - success) + probability[m - 1] * success;
        }
        probability[0] *= 1.0 - success;
    }
    return probability;
}

/// agreeing[m][x] = P(m chains agree so far, the last token is x); m = 0 stays empty, as such rounds have ended.
using Agreement = std::vector<Probabilities>;

Agreement next_agreement(const Models& models, const Agreement& agreeing, Probabilities& ended) {
    const std::size_t vocabulary = ended.size();
    Agreement next(agreeing.size(), Probabilities(vocabulary, 0.0));
    for (std::size_t x = 0; x < vocabulary; ++x) {
        const std::span<const double> p = models.target.after(static_cast<int>(x)),
                                      q = models.drafter.after(static_cast<int>(x));
        for (std::size_t y = 0; y < vocabulary; ++y) {
            for (std::size_t m = 1; m < agreeing.size(); ++m) {
                if (const double here = agreeing[m][x] * p[y]; here > 0.0) {
                    const std::vector<double> go_on = binomial(static_cast<int>(m), q[y]);
                    ended[y] += here * go_on[0];
                    for (std::size_t n = 1; n <= m; ++n) {
                        next[n][y] += here * go_on[n];
                    }
                }
            }
        }
    }
    return next;
}

ExpectedRound expected_round(const Models& models, int draft_tokens, int drafts, const Probabilities& roots) {
    ExpectedRound expected{{sum(roots)}, Probabilities(roots.size(), 0.0), {0.0}, 0.0};
    Agreement agreeing(static_cast<std::size_t>(drafts) + 1, Probabilities(roots.size(), 0.0));
    agreeing.back() = roots;
    for (int i = 0; i < draft_tokens; ++i) {
        agreeing = next_agreement(models, agreeing, expected.next_root);
        double at_least = 0.0;
        for (const Probabilities& tokens : agreeing) {
            at_least += sum(tokens);
        }
        expected.at_least.push_back(at_least);
        expected.accepted_by_rank[0] += at_least;
    }
    expected.none_accepted = expected.at_least.front() - expected.at_least.back();
    for (const Probabilities& tokens : agreeing) {
        for (std::size_t x = 0; x < roots.size(); ++x) {
            const std::span<const double> p = models.target.after(static_cast<int>(x));
            for (std::size_t y = 0; y < roots.size(); ++y) {
                expected.next_root[y] += tokens[x] * p[y];
            }
        }
    }
    return expected;
}

}  // namespace

Round independent_drafts_round(const Models& models, int draft_tokens, int drafts) {
    return [&models, draft_tokens, drafts](int root, numerics::Random& random, DrawnRound& round) {
        draw_round(models, draft_tokens, drafts, root, random, round);
    };
}

RoundLaw independent_drafts_law(const Models& models, int draft_tokens, int drafts) {
    return [&models, draft_tokens, drafts](const Probabilities& roots) {
        return expected_round(models, draft_tokens, drafts, roots);
    };
}

}  // namespace treeline::sim::sampling
