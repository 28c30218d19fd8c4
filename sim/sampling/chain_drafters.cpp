// Chains whose drafts come from elsewhere than one sampled drafter, token by token: look-ups, cut-offs, cascades, parallel
// heads.
#include <algorithm>

#include "numerics/random.h"
#include "sim/sampling/chain.h"

namespace treeline::sim::sampling {
namespace {

/// Whether the drafter's best token after `last` is likely enough to go on.
bool goes_on(const NextToken& drafter, int last, double threshold) {
    const std::span<const double> q = drafter.after(last);
    return *std::max_element(q.begin(), q.end()) >= threshold;
}

/// Rejection sampling of `draft` ~ q against p. True if it was kept; else the correction is the round's last token.
bool verify_sampled(std::span<const double> p, std::span<const double> q, int draft, numerics::Random& random,
                    DrawnRound& round) {
    const auto at = static_cast<std::size_t>(draft);
    if (random.uniform() * q[at] < p[at]) {
        round.tokens.push_back(draft);
        round.ranks.push_back(1);
        return true;
    }
    const Probabilities rest = positive_difference(p, q);
    round.tokens.push_back(draw(sum(rest) > 0.0 ? std::span<const double>(rest) : p, random));
    round.all_rejected = true;
    return false;
}

void add_bonus(const Models& models, const Probabilities& accepted, ExpectedRound& expected) {
    for (std::size_t x = 0; x < accepted.size(); ++x) {
        const std::span<const double> p = models.target.after(static_cast<int>(x));
        for (std::size_t y = 0; y < accepted.size(); ++y) {
            expected.next_root[y] += accepted[x] * p[y];
        }
    }
}

void add_level(ExpectedRound& expected, double accepted) {
    expected.at_least.push_back(accepted);
    expected.accepted_by_rank[0] += accepted;
}

}  // namespace

Round lookup_round(const Models& models, int draft_tokens, double hit_rate, double mean_draft) {
    return [&models, draft_tokens, hit_rate, mean_draft](int root, numerics::Random& random, DrawnRound& round) {
        int drafted = random.uniform() < hit_rate ? draft_tokens : 0;
        for (int i = 1; mean_draft > 0.0 && i < drafted; ++i) {
            drafted = random.uniform() * mean_draft < 1.0 ? i : drafted;
        }
        int last = root;
        for (int i = 0; i < drafted; ++i) {
            const int draft = models.drafter.ranking_after(last).front();
            const int token = draw(models.target.after(last), random);
            round.tokens.push_back(token);
            if (token != draft) {
                round.all_rejected = true;
                return;
            }
            round.ranks.push_back(1);
            last = token;
        }
        round.tokens.push_back(draw(models.target.after(last), random));
    };
}

RoundLaw lookup_law(const Models& models, int draft_tokens, double hit_rate, double mean_draft) {
    return [&models, draft_tokens, hit_rate, mean_draft](const Probabilities& roots) {
        ExpectedRound expected{{sum(roots)}, Probabilities(roots.size(), 0.0), {0.0}, 0.0};
        Probabilities accepted = roots;
        for (int i = 0; i < draft_tokens; ++i) {
            const double goes_on = i == 0 ? hit_rate : mean_draft > 0.0 ? 1.0 - 1.0 / mean_draft : 1.0;
            Probabilities next(roots.size(), 0.0), ended = accepted;
            for (std::size_t x = 0; x < roots.size(); ++x) {
                ended[x] *= 1.0 - goes_on;
                const std::span<const double> p = models.target.after(static_cast<int>(x));
                const auto draft = static_cast<std::size_t>(models.drafter.ranking_after(static_cast<int>(x)).front());
                for (std::size_t y = 0; y < roots.size(); ++y) {
                    (y == draft ? next : expected.next_root)[y] += goes_on * accepted[x] * p[y];
                    expected.none_accepted += y == draft ? 0.0 : goes_on * accepted[x] * p[y];
                }
            }
            add_bonus(models, ended, expected);
            accepted = next;
            add_level(expected, sum(accepted));
        }
        add_bonus(models, accepted, expected);
        return expected;
    };
}

Round lookup_first_round(const Models& models, int draft_tokens, double hit_rate) {
    return [lookup = lookup_round(models, draft_tokens, 1.0), otherwise = token_wise_round(models, draft_tokens), hit_rate](
               int root, numerics::Random& random, DrawnRound& round) {
        random.uniform() < hit_rate ? lookup(root, random, round) : otherwise(root, random, round);
    };
}

RoundLaw lookup_first_law(const Models& models, int draft_tokens, double hit_rate) {
    return [lookup = lookup_law(models, draft_tokens, 1.0), otherwise = token_wise_law(models, draft_tokens),
            hit_rate](const Probabilities& roots) {
        ExpectedRound mean = lookup(roots);
        const ExpectedRound other = otherwise(roots);
        const auto mix = [&](std::vector<double>& found, const std::vector<double>& with) {
            for (std::size_t i = 0; i < found.size(); ++i) {
                found[i] = hit_rate * found[i] + (1.0 - hit_rate) * with[i];
            }
        };
        mix(mean.at_least, other.at_least);
        mix(mean.next_root, other.next_root);
        mix(mean.accepted_by_rank, other.accepted_by_rank);
        mean.none_accepted = hit_rate * mean.none_accepted + (1.0 - hit_rate) * other.none_accepted;
        return mean;
    };
}

Round cut_off_round(const Models& models, int draft_tokens, double threshold) {
    return [&models, draft_tokens, threshold](int root, numerics::Random& random, DrawnRound& round) {
        int last = root;
        for (int i = 0; i < draft_tokens && goes_on(models.drafter, last, threshold); ++i) {
            const std::span<const double> q = models.drafter.after(last);
            if (!verify_sampled(models.target.after(last), q, draw(q, random), random, round)) {
                return;
            }
            last = round.tokens.back();
        }
        round.tokens.push_back(draw(models.target.after(last), random));
    };
}

RoundLaw cut_off_law(const Models& models, int draft_tokens, double threshold) {
    return [&models, draft_tokens, threshold](const Probabilities& roots) {
        ExpectedRound expected{{sum(roots)}, Probabilities(roots.size(), 0.0), {0.0}, 0.0};
        Probabilities accepted = roots;
        for (int i = 0; i < draft_tokens; ++i) {
            Probabilities next(roots.size(), 0.0), stopped(roots.size(), 0.0);
            for (std::size_t x = 0; x < roots.size(); ++x) {
                if (!goes_on(models.drafter, static_cast<int>(x), threshold)) {
                    stopped[x] = accepted[x];
                    continue;
                }
                const std::span<const double> p = models.target.after(static_cast<int>(x)),
                                              q = models.drafter.after(static_cast<int>(x));
                for (std::size_t y = 0; y < roots.size(); ++y) {
                    next[y] += accepted[x] * std::min(p[y], q[y]);
                    expected.next_root[y] += accepted[x] * std::max(p[y] - q[y], 0.0);
                    expected.none_accepted += accepted[x] * std::max(p[y] - q[y], 0.0);
                }
            }
            add_bonus(models, stopped, expected);
            accepted = next;
            add_level(expected, sum(accepted));
        }
        add_bonus(models, accepted, expected);
        return expected;
    };
}

Round dropping_round(const Models& models, int draft_tokens, double threshold) {
    return [&models, draft_tokens, threshold](int root, numerics::Random& random, DrawnRound& round) {
        int last = root;
        for (int i = 0; i < draft_tokens; ++i) {
            const std::span<const double> q = models.drafter.after(last);
            const int draft = draw(q, random);
            if (q[static_cast<std::size_t>(draft)] < threshold) {
                break;
            }
            if (!verify_sampled(models.target.after(last), q, draft, random, round)) {
                return;
            }
            last = draft;
        }
        round.tokens.push_back(draw(models.target.after(last), random));
    };
}

Round cascade_round(const Models& models, const NextToken& inner, int draft_tokens, int inner_tokens) {
    const Models below{models.drafter, inner};
    return [&models, below, draft_tokens, inner_tokens](int root, numerics::Random& random, DrawnRound& round) {
        // The middle model's tokens, sped up by the inner drafter: distributed as if it had drafted alone.
        std::vector<int> drafts;
        const Round inside = token_wise_round(below, inner_tokens);
        DrawnRound drawn;
        for (int last = root; static_cast<int>(drafts.size()) < draft_tokens; last = drafts.back()) {
            drawn.clear();
            inside(last, random, drawn);
            drafts.insert(drafts.end(), drawn.tokens.begin(), drawn.tokens.end());
        }
        drafts.resize(static_cast<std::size_t>(draft_tokens));
        int last = root;
        for (const int draft : drafts) {
            if (!verify_sampled(models.target.after(last), models.drafter.after(last), draft, random, round)) {
                return;
            }
            last = draft;
        }
        round.tokens.push_back(draw(models.target.after(last), random));
    };
}

namespace {

/// The drafter's distribution one token further ahead.
Probabilities further(const Models& models, std::span<const double> ahead) {
    Probabilities next(ahead.size(), 0.0);
    for (std::size_t x = 0; x < ahead.size(); ++x) {
        const std::span<const double> q = models.drafter.after(static_cast<int>(x));
        for (std::size_t y = 0; y < ahead.size(); ++y) {
            next[y] += ahead[x] * q[y];
        }
    }
    return next;
}

Probabilities one_ahead(const Models& models, int root) {
    const std::span<const double> q = models.drafter.after(root);
    return {q.begin(), q.end()};
}

}  // namespace

Round parallel_round(const Models& models, int draft_tokens) {
    return [&models, draft_tokens](int root, numerics::Random& random, DrawnRound& round) {
        Probabilities ahead = one_ahead(models, root);
        int last = root;
        for (int i = 0; i < draft_tokens; ++i) {
            if (!verify_sampled(models.target.after(last), ahead, draw(ahead, random), random, round)) {
                return;
            }
            last = round.tokens.back();
            ahead = further(models, ahead);
        }
        round.tokens.push_back(draw(models.target.after(last), random));
    };
}

RoundLaw parallel_law(const Models& models, int draft_tokens) {
    return [&models, draft_tokens](const Probabilities& roots) {
        ExpectedRound expected{{sum(roots)}, Probabilities(roots.size(), 0.0), {0.0}, 0.0};
        expected.at_least.resize(static_cast<std::size_t>(draft_tokens) + 1, 0.0);
        for (std::size_t root = 0; root < roots.size(); ++root) {
            Probabilities accepted(roots.size(), 0.0), ahead = one_ahead(models, static_cast<int>(root));
            accepted[root] = roots[root];
            for (int i = 1; i <= draft_tokens; ++i) {
                Probabilities next(roots.size(), 0.0);
                for (std::size_t x = 0; x < roots.size(); ++x) {
                    const std::span<const double> p = models.target.after(static_cast<int>(x));
                    for (std::size_t y = 0; y < roots.size(); ++y) {
                        next[y] += accepted[x] * std::min(p[y], ahead[y]);
                        expected.next_root[y] += accepted[x] * std::max(p[y] - ahead[y], 0.0);
                        expected.none_accepted += accepted[x] * std::max(p[y] - ahead[y], 0.0);
                    }
                }
                accepted = next;
                ahead = further(models, ahead);
                expected.at_least[static_cast<std::size_t>(i)] += sum(accepted);
                expected.accepted_by_rank[0] += sum(accepted);
            }
            add_bonus(models, accepted, expected);
        }
        return expected;
    };
}

RoundLaw cascade_law(const Models& models, int draft_tokens) { return token_wise_law(models, draft_tokens); }

}  // namespace treeline::sim::sampling
