#include <algorithm>

#include "numerics/random.h"
#include "sim/sampling/chain.h"

namespace treeline::sim::sampling {
namespace {

/// max(r·p − q, 0).
Probabilities scaled_difference(double r, std::span<const double> p, std::span<const double> q) {
    Probabilities difference(p.size());
    for (std::size_t y = 0; y < p.size(); ++y) {
        difference[y] = std::max(r * p[y] - q[y], 0.0);
    }
    return difference;
}

/// h_i for a draft that is not the last.
double pass_probability(double r, double difference) {
    const double whole = difference + 1.0 - r;
    return whole > 0.0 ? difference / whole : 1.0;  // r = 1 and p = q: the next draft passes for certain, too
}

void draw_round(const Models& models, int draft_tokens, int root, numerics::Random& random, DrawnRound& round) {
    int last = root, kept_root = root;
    double r = 1.0, kept_r = 1.0;
    std::size_t kept = 0;
    for (int i = 1; i <= draft_tokens; ++i) {
        const std::span<const double> p = models.target.after(last), q = models.drafter.after(last);
        const int draft = draw(q, random);
        const auto at = static_cast<std::size_t>(draft);
        r = std::min(r * p[at] / q[at], 1.0);
        round.tokens.push_back(draft);
        last = draft;
        const double passes =
            i == draft_tokens
                ? r
                : pass_probability(r, sum(scaled_difference(r, models.target.after(last), models.drafter.after(last))));
        if (random.uniform() < passes) {
            kept = round.tokens.size();
            kept_root = last;
            kept_r = r;
        }
    }
    round.tokens.resize(kept);
    round.ranks.assign(kept, 1);
    round.all_rejected = kept < static_cast<std::size_t>(draft_tokens);
    const std::span<const double> p = models.target.after(kept_root);
    Probabilities rest(p.begin(), p.end());
    if (round.all_rejected) {
        rest = scaled_difference(kept_r, p, models.drafter.after(kept_root));
    }
    round.tokens.push_back(draw(sum(rest) > 0.0 ? std::span<const double>(rest) : p, random));
}

/// Drafts that end in the same token with the same r.
struct Path {
    int last = 0;
    double r = 1.0;
    double probability = 0.0;  ///< that the drafter writes it
};

constexpr double negligible = 1e-14;

/// All continuations by one draft. Those that reach r = 1 join.
std::vector<Path> extended(const Models& models, const std::vector<Path>& paths) {
    const auto vocabulary = static_cast<std::size_t>(models.target.vocabulary());
    std::vector<Path> next(vocabulary);
    for (std::size_t y = 0; y < vocabulary; ++y) {
        next[y].last = static_cast<int>(y);
    }
    for (const Path& path : paths) {
        const std::span<const double> p = models.target.after(path.last), q = models.drafter.after(path.last);
        for (std::size_t y = 0; y < vocabulary; ++y) {
            const double kept = path.r * p[y];
            if (kept >= q[y]) {
                next[y].probability += path.probability * q[y];
            } else if (path.probability * kept > negligible) {
                next.push_back({static_cast<int>(y), kept / q[y], path.probability * q[y]});
            }
        }
    }
    return next;
}

/// Returns P(one more draft is kept and is y), and adds what ends the round at these paths to `ended`.
Probabilities kept_next(const Models& models, const std::vector<Path>& paths, Probabilities& ended) {
    Probabilities kept(ended.size(), 0.0);
    for (const Path& path : paths) {
        const std::span<const double> p = models.target.after(path.last), q = models.drafter.after(path.last);
        for (std::size_t y = 0; y < ended.size(); ++y) {
            const double both = std::min(path.r * p[y], q[y]);
            kept[y] += path.probability * both;
            ended[y] += path.probability * (path.r * p[y] - both);
        }
    }
    return kept;
}

std::vector<Path> starts(const Probabilities& roots) {
    std::vector<Path> paths;
    for (std::size_t x = 0; x < roots.size(); ++x) {
        paths.push_back({static_cast<int>(x), 1.0, roots[x]});
    }
    return paths;
}

ExpectedRound expected_round(const Models& models, int draft_tokens, const Probabilities& roots) {
    ExpectedRound expected{{sum(roots)}, Probabilities(roots.size(), 0.0), {0.0}, 0.0};
    std::vector<Path> paths = starts(roots);
    Probabilities kept = roots;
    for (int i = 0; i < draft_tokens; ++i) {
        kept = kept_next(models, paths, expected.next_root);
        expected.at_least.push_back(sum(kept));
        expected.accepted_by_rank[0] += expected.at_least.back();
        if (i + 1 < draft_tokens) {
            paths = extended(models, paths);
        }
    }
    expected.none_accepted = expected.at_least.front() - expected.at_least.back();
    for (std::size_t x = 0; x < roots.size(); ++x) {
        const std::span<const double> p = models.target.after(static_cast<int>(x));
        for (std::size_t y = 0; y < roots.size(); ++y) {
            expected.next_root[y] += kept[x] * p[y];
        }
    }
    return expected;
}

/// Whether following all paths of a round stays within this many steps.
bool can_follow(const Models& models, int draft_tokens, double most_steps) {
    const int vocabulary = models.target.vocabulary();
    std::vector<Path> paths = starts(Probabilities(static_cast<std::size_t>(vocabulary), 1.0 / vocabulary));
    double steps = 0.0;
    for (int i = 0; i < draft_tokens; ++i) {
        steps += static_cast<double>(paths.size()) * vocabulary;
        if (steps > most_steps) {
            return false;
        }
        if (i + 1 < draft_tokens) {
            paths = extended(models, paths);
        }
    }
    return true;
}

}  // namespace

Round block_round(const Models& models, int draft_tokens) {
    return [&models, draft_tokens](int root, numerics::Random& random, DrawnRound& round) {
        draw_round(models, draft_tokens, root, random, round);
    };
}

std::optional<RoundLaw> block_law(const Models& models, int draft_tokens, double most_steps) {
    if (!can_follow(models, draft_tokens, most_steps)) {
        return std::nullopt;
    }
    return [&models, draft_tokens](const Probabilities& roots) { return expected_round(models, draft_tokens, roots); };
}

}  // namespace treeline::sim::sampling
