#include "sim/acceptance.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numerics/bisection.h"

namespace treeline::sim {
namespace {

double geometric_length(double rate, double draft_tokens) {
    return rate >= 1.0 ? draft_tokens + 1.0 : (1.0 - std::pow(rate, draft_tokens + 1.0)) / (1.0 - rate);
}

/// Least-squares non-increasing sequence: adjacent values in the wrong order are replaced by their mean.
std::vector<double> pooled_non_increasing(const std::vector<double>& values) {
    std::vector<std::pair<double, int>> pools;  // mean, size
    for (const double value : values) {
        pools.emplace_back(value, 1);
        while (pools.size() > 1 && pools[pools.size() - 2].first < pools.back().first) {
            const auto [mean, size] = pools.back();
            pools.pop_back();
            auto& [left_mean, left_size] = pools.back();
            left_mean = (left_mean * left_size + mean * size) / (left_size + size);
            left_size += size;
        }
    }
    std::vector<double> result;
    for (const auto& [mean, size] : pools) {
        result.insert(result.end(), static_cast<std::size_t>(size), std::clamp(mean, 0.0, 1.0));
    }
    return result;
}

/// `count` positions after one of acceptance `before`, each the one before it times one rate, with this sum. A sum that no
/// rate up to 1 reaches, noise of measured curves, is spread evenly.
std::vector<double> geometric_gap(double before, double sum, int count) {
    const auto sum_at = [=](double rate) { return before * (geometric_length(rate, count) - 1.0); };
    if (count == 1 || !(sum > 0.0 && sum < sum_at(1.0))) {
        return std::vector<double>(static_cast<std::size_t>(count), sum / count);
    }
    const double rate = numerics::bisect({0.0, 1.0}, 100, [=](double candidate) { return sum_at(candidate) < sum; }).middle();
    std::vector<double> positions;
    for (int i = 1; i <= count; ++i) {
        positions.push_back(before * std::pow(rate, i));
    }
    return positions;
}

double mean_rate(const std::vector<double>& positions) {
    return positions.empty() ? 0.0 : std::pow(std::max(0.0, positions.back()), 1.0 / static_cast<double>(positions.size()));
}

/// P(the last position is accepted | the one before was).
double last_rate(const std::vector<double>& positions) {
    const double before = positions.size() > 1 ? positions[positions.size() - 2] : 1.0;
    return positions.empty() || before <= 0.0 ? 0.0 : positions.back() / before;
}

/// The rate at which the chain continues beyond its measured positions: the last conditional rate, but no more than the mean
/// rate so far. (Values that were spread over a gap or pooled end in equal positions, and a conditional rate of 1 would accept
/// forever.)
double continuation_rate(const std::vector<double>& positions) {
    return std::min({1.0, mean_rate(positions), last_rate(positions)});
}

}  // namespace

Acceptance Acceptance::geometric(double rate) {
    Acceptance result;
    result.tail_rate_ = rate;
    result.model_ = true;
    return result;
}

Acceptance Acceptance::per_position(std::vector<double> positions) {
    Acceptance result;
    result.tail_rate_ = continuation_rate(positions);
    result.decay_ = continuation_decay;
    result.positions_ = std::move(positions);
    return result;
}

Acceptance Acceptance::mean_length(double accept_length, double draft_tokens) {
    const auto too_low = [=](double rate) { return geometric_length(rate, draft_tokens) < accept_length; };
    return geometric(numerics::bisect({0.0, 1.0}, 100, too_low).middle());
}

Acceptance Acceptance::curve(const std::map<int, double>& accept_length_by_draft_tokens) {
    std::vector<double> gains;
    double previous_length = 1.0;
    for (const auto& [draft_tokens, length] : accept_length_by_draft_tokens) {
        const std::vector<double> gap = geometric_gap(gains.empty() ? 1.0 : gains.back(), length - previous_length,
                                                      draft_tokens - static_cast<int>(gains.size()));
        gains.insert(gains.end(), gap.begin(), gap.end());
        previous_length = length;
    }
    return per_position(pooled_non_increasing(gains));
}

double Acceptance::position(int i) const {
    if (i <= 0) {
        return 1.0;
    }
    const auto measured = static_cast<int>(positions_.size());
    if (i <= measured) {
        return positions_[static_cast<std::size_t>(i - 1)];
    }
    const double last = positions_.empty() ? 1.0 : positions_.back();
    const double beyond = i - measured;  // rates tail·d, tail·d², …
    return last * std::pow(tail_rate_, beyond) * std::pow(decay_, 0.5 * beyond * (beyond + 1.0));
}

double Acceptance::accept_length(int draft_tokens) const {
    double length = 1.0;
    for (int i = 1; i <= draft_tokens; ++i) {
        length += position(i);
    }
    return length;
}

bool Acceptance::extrapolated(int draft_tokens) const { return !model_ && draft_tokens > measured_positions(); }

Acceptance Acceptance::continued_with(double rate) const {
    Acceptance result = *this;
    if (!model_) {
        result.tail_rate_ = rate;
        result.decay_ = 1.0;
    }
    return result;
}

double Acceptance::highest_continuation() const {
    return std::min(1.0, std::max(mean_rate(positions_), last_rate(positions_)));
}

std::vector<std::string> Acceptance::problems() const {
    std::vector<std::string> problems;
    double previous = 1.0;
    for (std::size_t i = 0; i < positions_.size(); ++i) {
        const double value = positions_[i];
        if (!(value >= 0.0 && value <= 1.0)) {
            problems.push_back("acceptance at position " + std::to_string(i + 1) + " must lie between 0 and 1");
        } else if (value > previous) {
            problems.push_back(
                "acceptance must not increase along the chain, but position " + std::to_string(i + 1) +
                " exceeds the one before it (per-position values are unconditional: P(first i drafts all accepted))");
        }
        previous = value;
    }
    if (!(tail_rate_ >= 0.0 && tail_rate_ <= 1.0)) {
        problems.emplace_back("the acceptance rate must lie between 0 and 1");
    }
    return problems;
}

Acceptance Acceptance::scaled(double factor) const {
    Acceptance result = *this;
    double ceiling = 1.0;
    for (double& position : result.positions_) {
        position = std::min(ceiling, position * factor);
        ceiling = position;
    }
    result.tail_rate_ = std::min(1.0, model_ ? tail_rate_ * factor : tail_rate_);
    return result;
}

}  // namespace treeline::sim
