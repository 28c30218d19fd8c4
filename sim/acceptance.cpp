#include "sim/acceptance.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "numerics/bisection.h"
#include "numerics/root_of_squares.h"

namespace treeline::sim {
namespace {

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

/// i^−fall for i = first … last.
std::vector<double> shares_of_first(int first, int last, double fall) {
    std::vector<double> shares;
    for (int i = first; i <= last; ++i) {
        shares.push_back(fall == 0.0 ? 1.0 : std::pow(i, -fall));
    }
    return shares;
}

/// Positions after one of acceptance `before`, their conditional rates being `rate` times these shares, at most 1.
std::vector<double> positions_after(double before, double rate, const std::vector<double>& shares) {
    std::vector<double> positions;
    for (const double share : shares) {
        before *= std::min(1.0, rate * share);
        positions.push_back(before);
    }
    return positions;
}

/// Their sum, of which the last one counts in part.
double sum_of(const std::vector<double>& positions, double part_of_last) {
    double sum = 0.0;
    for (std::size_t i = 0; i < positions.size(); ++i) {
        sum += i + 1 < positions.size() ? positions[i] : part_of_last * positions[i];
    }
    return sum;
}

/// The rate with which positions after `before` have this sum.
double rate_of_sum(double before, double sum, const std::vector<double>& shares, double part_of_last) {
    const auto too_low = [&](double rate) { return sum_of(positions_after(before, rate, shares), part_of_last) < sum; };
    return numerics::bisect({0.0, 1.0 / shares.back()}, 100, too_low).middle();
}

/// `count` positions after `measured` ones, the last of acceptance `before`, with this sum, falling as measured curves do. A
/// sum that no rate reaches, noise of measured curves, is spread evenly.
std::vector<double> falling_gap(double before, double sum, int measured, int count) {
    if (count == 1 || !(sum > 0.0 && sum < before * count)) {
        return std::vector<double>(static_cast<std::size_t>(count), sum / count);
    }
    const std::vector<double> shares = shares_of_first(measured + 1, measured + count, measured_fall);
    return positions_after(before, rate_of_sum(before, sum, shares, 1.0), shares);
}

/// The same sum, with the last position no lower than the mean of the gap that follows, where the shape alone would break what
/// both lengths allow: means that differ by rounding alone are equal.
std::vector<double> levelled(std::vector<double> gap, double mean_of_next) {
    constexpr double rounding = 1e-9;
    const double mean = std::accumulate(gap.begin(), gap.end(), 0.0) / static_cast<double>(gap.size());
    const double last = gap.back(), least = std::min(mean_of_next, mean);
    if (last < least && mean_of_next <= mean + rounding) {
        for (double& position : gap) {
            position = mean + (position - mean) * (mean - least) / (mean - last);
        }
    }
    return gap;
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

Acceptance Acceptance::geometric(double rate) { return falling(rate, 0.0); }

Acceptance Acceptance::falling(double first_rate, double fall) {
    Acceptance result;
    result.tail_rate_ = first_rate;
    result.fall_ = fall;
    result.known_ = 1;
    result.model_ = true;
    return result;
}

Acceptance Acceptance::per_position(std::vector<double> positions) {
    Acceptance result;
    result.tail_rate_ = continuation_rate(positions);
    result.fall_ = measured_fall;
    result.known_ = static_cast<int>(positions.size());
    result.positions_ = std::move(positions);
    return result;
}

Acceptance Acceptance::mean_length(double accept_length, double draft_tokens, double fall) {
    const int most = std::max(1, static_cast<int>(std::ceil(draft_tokens)));
    const std::vector<double> shares = shares_of_first(1, most, fall);
    Acceptance result = falling(rate_of_sum(1.0, accept_length - 1.0, shares, draft_tokens - most + 1.0), fall);
    result.known_ = most;
    return result;
}

Acceptance Acceptance::curve(const std::map<int, double>& accept_length_by_draft_tokens) {
    std::vector<double> gains;
    double previous_length = 1.0;
    for (auto at = accept_length_by_draft_tokens.begin(); at != accept_length_by_draft_tokens.end(); ++at) {
        const auto& [draft_tokens, length] = *at;
        const int measured = static_cast<int>(gains.size());
        std::vector<double> gap =
            falling_gap(gains.empty() ? 1.0 : gains.back(), length - previous_length, measured, draft_tokens - measured);
        if (const auto next = std::next(at); next != accept_length_by_draft_tokens.end()) {
            gap = levelled(std::move(gap), (next->second - length) / (next->first - draft_tokens));
        }
        gains.insert(gains.end(), gap.begin(), gap.end());
        previous_length = length;
    }
    return per_position(pooled_non_increasing(gains));
}

double Acceptance::stated_rate(int i) const {
    const auto measured = static_cast<int>(positions_.size());
    if (i <= measured) {
        const double before = i > 1 ? positions_[static_cast<std::size_t>(i - 2)] : 1.0;
        return before > 0.0 ? positions_[static_cast<std::size_t>(i - 1)] / before : 0.0;
    }
    const double places = static_cast<double>(i) / std::max(1, measured);
    return std::min(1.0, fall_ == 0.0 ? tail_rate_ : tail_rate_ * std::pow(places, -fall_));
}

std::vector<double> Acceptance::positions_to(int depth) const {
    std::vector<double> result = {1.0};
    for (int i = 1; i <= depth; ++i) {
        double rate = stated_rate(i);
        if (place_ != 0.0) {
            const double shape = i > known_ && fall_ > 0.0 ? (place_ < 0.0 ? steeper_curve : flatter_curve) * std::log(i) : 0.0;
            rate = rate_of_log_odds(log_odds(rate) + place_ * numerics::root_of_squares(spread_, shape));
        } else if (i <= measured_positions()) {
            result.push_back(positions_[static_cast<std::size_t>(i - 1)]);
            continue;
        }
        result.push_back(result.back() * rate);
    }
    return result;
}

double Acceptance::position(int i) const { return positions_to(i).back(); }

double Acceptance::accept_length(int draft_tokens) const {
    double length = 0.0;
    for (const double position : positions_to(std::max(0, draft_tokens))) {
        length += position;
    }
    return length;
}

double Acceptance::variance(int draft_tokens) const {
    const std::vector<double> positions = positions_to(draft_tokens);
    double squares = 0.0, mean = 0.0;
    for (std::size_t i = 1; i < positions.size(); ++i) {
        squares += (2.0 * static_cast<double>(i) - 1.0) * positions[i];
        mean += positions[i];
    }
    return std::max(0.0, squares - mean * mean);
}

bool Acceptance::extrapolated(int draft_tokens) const { return !model_ && draft_tokens > measured_positions(); }

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
    const bool of_a_length = model_ && known_ > 1;  // whose bisection leaves it within what is possible
    if (!(tail_rate_ >= 0.0 && (tail_rate_ <= 1.0 || of_a_length))) {
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
    if (model_) {
        result.tail_rate_ = std::min(std::max(1.0, tail_rate_), tail_rate_ * factor);
    }
    return result;
}

Acceptance Acceptance::moved(double place, double spread) const {
    Acceptance result = *this;
    result.place_ = place;
    result.spread_ = spread;
    return result;
}

}  // namespace treeline::sim
