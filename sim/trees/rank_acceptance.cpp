#include "sim/trees/rank_acceptance.h"

#include <cmath>
#include <numeric>
#include <sstream>

namespace treeline::sim {

RankAcceptance RankAcceptance::from_counts(const std::vector<double>& accepted_by_rank, double none_accepted) {
    const double total = std::accumulate(accepted_by_rank.begin(), accepted_by_rank.end(), none_accepted);
    std::vector<double> by_rank = accepted_by_rank;
    for (double& value : by_rank) {
        value = total > 0.0 ? value / total : 0.0;
    }
    return RankAcceptance(std::move(by_rank));
}

RankAcceptance RankAcceptance::halving(int ranks) {
    std::vector<double> by_rank;
    for (int r = 1; r <= ranks; ++r) {
        by_rank.push_back(std::ldexp(1.0, -r));
    }
    return RankAcceptance(std::move(by_rank));
}

const RankAcceptance& RankAcceptance::assumed() {
    static const RankAcceptance order = halving(64);
    return order;
}

const RankAcceptance& RankAcceptance::known_or_assumed(const RankAcceptance& known) {
    return known.ranks() > 0 ? known : assumed();
}

double RankAcceptance::none() const { return 1.0 - std::accumulate(by_rank_.begin(), by_rank_.end(), 0.0); }

std::vector<std::string> RankAcceptance::problems() const {
    constexpr double rounding = 1e-6;  // of figures printed with few digits
    std::vector<std::string> problems;
    if (by_rank_.empty()) {
        problems.emplace_back("per-rank acceptance needs at least one rank");
    }
    for (std::size_t i = 0; i < by_rank_.size(); ++i) {
        if (!(by_rank_[i] >= 0.0 && by_rank_[i] <= 1.0)) {
            problems.push_back("acceptance of rank " + std::to_string(i + 1) + " must lie between 0 and 1");
        }
    }
    if (problems.empty() && none() < -rounding) {
        std::ostringstream sum;
        sum << 1.0 - none();
        problems.push_back("acceptance by rank sums to " + sum.str() +
                           ", but at most one sibling is accepted, so the sum must not exceed 1");
    }
    return problems;
}

std::vector<double> path_acceptance(const DraftTree& tree, const RankAcceptance& acceptance) {
    std::vector<double> f(static_cast<std::size_t>(tree.verified_tokens()), 1.0);
    for (int token = 1; token < tree.verified_tokens(); ++token) {
        f[static_cast<std::size_t>(token)] =
            f[static_cast<std::size_t>(tree.parent(token))] * acceptance.rank(tree.rank(token));
    }
    return f;
}

double accept_length(const DraftTree& tree, const RankAcceptance& acceptance) {
    const std::vector<double> f = path_acceptance(tree, acceptance);
    return std::accumulate(f.begin(), f.end(), 0.0);
}

std::vector<double> accepted_at_least(const DraftTree& tree, const RankAcceptance& acceptance) {
    const std::vector<double> f = path_acceptance(tree, acceptance);
    std::vector<double> at_least;
    for (int level = 0; level <= tree.depth(); ++level) {
        const auto [begin, end] = tree.level_range(level);
        at_least.push_back(std::accumulate(f.begin() + begin, f.begin() + end, 0.0));
    }
    return at_least;
}

std::vector<double> accepted_exactly(const DraftTree& tree, const RankAcceptance& acceptance) {
    std::vector<double> result = accepted_at_least(tree, acceptance);
    for (std::size_t i = 0; i + 1 < result.size(); ++i) {
        result[i] -= result[i + 1];
    }
    return result;
}

Acceptance acceptance_from_histogram(const std::vector<double>& rounds_by_accepted) {
    const double rounds = std::accumulate(rounds_by_accepted.begin(), rounds_by_accepted.end(), 0.0);
    std::vector<double> positions;
    double at_least = rounds;
    for (std::size_t i = 0; i + 1 < rounds_by_accepted.size(); ++i) {
        at_least -= rounds_by_accepted[i];
        positions.push_back(at_least / rounds);
    }
    return Acceptance::per_position(std::move(positions));
}

Acceptance independent_chains_bound(const Acceptance& one, int drafts, int draft_tokens) {
    std::vector<double> positions;
    for (int i = 1; i <= draft_tokens; ++i) {
        positions.push_back(1.0 - std::pow(1.0 - one.position(i), drafts));
    }
    return Acceptance::per_position(std::move(positions));
}

}  // namespace treeline::sim
