#include "runs/counts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "text/number_text.h"

namespace treeline::runs {
namespace {

/// Blocks from which their scatter says more than the binomial law.
constexpr double enough_blocks = 8.0;
/// Positions and totals are printed from the same counters, but logs round rates to three digits.
constexpr double position_tolerance = 0.02;

bool is_count(double value) { return std::isfinite(value) && value >= 0.0; }
bool is_whole(double value) { return std::abs(value - std::round(value)) < 1e-6 * std::max(1.0, value); }

/// The design effect: by how much blocks scatter more than independent rounds would. At least 1.
double design_effect(const AcceptanceCounts& counts) {
    const std::vector<double> positions = counts.positions();
    if (positions.empty() || counts.accept_length_error() <= 0.0) {
        return 1.0;
    }
    double variance = 0.0, mean = 0.0;
    for (std::size_t i = 0; i < positions.size(); ++i) {
        variance += (2.0 * static_cast<double>(i) + 1.0) * positions[i];
        mean += positions[i];
    }
    const double independent = (variance - mean * mean) / counts.drafts;
    return independent > 0.0 ? std::max(1.0, std::pow(counts.accept_length_error(), 2) / independent) : 1.0;
}

}  // namespace

void MeasuredMean::add(double value) { add(of(value, 0.0, 0.0, 1.0)); }

void MeasuredMean::add(double value, double weight) { add(of(value, 0.0, weight, 1.0)); }

void MeasuredMean::scale(double factor) {
    weight_ *= factor;
    sum_ *= factor;
    squares_ *= factor;
}

void MeasuredMean::add(const MeasuredMean& other) {
    MeasuredMean more = other;
    if (known() && more.known() && counted_ != more.counted_) {
        const MeasuredMean& counted = counted_ ? *this : more;
        const double each = counted.weight_ / counted.times_;
        (counted_ ? more : *this).scale(each);
    }
    counted_ = counted_ || more.counted_;
    weight_ += more.weight_;
    sum_ += more.sum_;
    squares_ += more.squares_;
    times_ += more.times_;
}

double MeasuredMean::standard_error() const {
    if (times_ < 2.0 || weight_ <= 0.0) {
        return 0.0;
    }
    const double variance = std::max(0.0, squares_ / weight_ - mean() * mean()) * times_ / (times_ - 1.0);
    return std::sqrt(variance / times_);
}

MeasuredMean MeasuredMean::of(double mean, double standard_error, double weight, double times) {
    MeasuredMean result;
    result.counted_ = weight > 0.0;
    result.weight_ = weight > 0.0 ? weight : times;
    result.sum_ = result.weight_ * mean;
    result.times_ = times;
    result.squares_ = result.weight_ * (mean * mean + standard_error * standard_error * std::max(0.0, times - 1.0));
    return result;
}

AcceptanceCounts AcceptanceCounts::as_block() const {
    AcceptanceCounts block = *this;
    block.blocks = 1.0;
    block.accepted_squares = accepted * accepted;
    block.accepted_drafts = accepted * drafts;
    block.drafts_squares = drafts * drafts;
    return block;
}

void AcceptanceCounts::add_undrafted(double rounds) {
    drafts += rounds;
    undrafted += rounds;
    drafts_with_positions += drafts_with_positions > 0.0 ? rounds : 0.0;
}

void AcceptanceCounts::add(const AcceptanceCounts& other) {
    drafts += other.drafts;
    undrafted += other.undrafted;
    drafted += other.drafted;
    accepted += other.accepted;
    reached.resize(std::max(reached.size(), other.reached.size()));
    for (std::size_t i = 0; i < other.reached.size(); ++i) {
        reached[i] += other.reached[i];
    }
    drafts_with_positions += other.drafts_with_positions;
    derived = derived || other.derived;
    blocks += other.blocks;
    accepted_squares += other.accepted_squares;
    accepted_drafts += other.accepted_drafts;
    drafts_squares += other.drafts_squares;
}

double AcceptanceCounts::accept_length_error() const {
    if (!known()) {
        return 0.0;
    }
    const double ratio = accepted / drafts;
    if (blocks >= enough_blocks) {
        const double squares = accepted_squares - 2.0 * ratio * accepted_drafts + ratio * ratio * drafts_squares;
        return std::sqrt(std::max(0.0, squares) * blocks / (blocks - 1.0)) / drafts;
    }
    if (derived) {
        return 0.0;
    }
    // Variance of the drafts that a round accepts: E[n²] = Σ (2i − 1)·a_i. Without positions, as if each draft were accepted
    // with the same chance until one is not, of which the variance of a geometric law is an upper bound.
    double variance = ratio * (1.0 + ratio);
    if (const std::vector<double> positions = this->positions(); !positions.empty()) {
        double second = 0.0, mean = 0.0;
        for (std::size_t i = 0; i < positions.size(); ++i) {
            second += (2.0 * static_cast<double>(i) + 1.0) * positions[i];
            mean += positions[i];
        }
        variance = std::max(0.0, second - mean * mean);
    }
    return std::sqrt(variance / drafts);
}

std::vector<double> AcceptanceCounts::rates() const {
    std::vector<double> result;
    for (const double count : drafts_with_positions > 0.0 ? reached : std::vector<double>{}) {
        result.push_back(count / drafts_with_positions);
    }
    return result;
}

std::vector<double> AcceptanceCounts::positions() const {
    std::vector<double> result = rates();
    double before = 1.0;
    for (double& rate : result) {
        rate = before = std::clamp(rate, 0.0, before);
    }
    return result;
}

std::vector<double> AcceptanceCounts::position_errors() const {
    std::vector<double> result;
    const double effect = design_effect(*this);
    for (const double position : positions()) {
        result.push_back(std::sqrt(effect * position * (1.0 - position) / drafts_with_positions));
    }
    return result;
}

std::optional<std::size_t> AcceptanceCounts::rising_position() const {
    constexpr double rounding = 0.01;
    for (std::size_t i = 1; i < reached.size(); ++i) {
        if (reached[i] > reached[i - 1] + rounding * drafts_with_positions) {
            return i;
        }
    }
    return std::nullopt;
}

std::vector<std::string> AcceptanceCounts::problems() const {
    std::vector<std::string> found;
    for (const auto& [what, value] : {std::pair{"drafts", drafts},
                                      {"rounds without a draft", undrafted},
                                      {"draft tokens", drafted},
                                      {"accepted tokens", accepted}}) {
        if (!is_count(value)) {
            found.push_back(fmt::format("{} {}, which is no count", text::short_text(value), what));
        } else if (!derived && !is_whole(value)) {
            found.push_back(
                fmt::format("{} {}; counts are whole numbers, so this looks like a rate", text::short_text(value), what));
        }
    }
    if (!found.empty()) {
        return found;
    }
    const double slack = derived ? 1.02 : 1.0;
    if (accepted > drafted * slack) {
        found.push_back(
            fmt::format("{} accepted tokens, but only {} were drafted", text::short_text(accepted), text::short_text(drafted)));
    }
    if (undrafted > drafts) {
        found.push_back(fmt::format("{} rounds without a draft, but only {} rounds", text::short_text(undrafted),
                                    text::short_text(drafts)));
    }
    if (drafted > 0.0 && drafts <= 0.0) {
        found.push_back(fmt::format("{} draft tokens in 0 drafts", text::short_text(drafted)));
    }
    std::string rise;
    double sum = 0.0, before = drafts_with_positions;
    for (std::size_t i = 0; i < reached.size(); ++i) {
        const double slack_of_position = derived ? 0.01 * drafts_with_positions : 0.0;
        const bool rises = reached[i] > before * (1.0 + 1e-9) + slack_of_position;
        if (rises && rise.empty()) {
            rise = fmt::format(
                "position {} accepted {} times, the one before {} times; a draft that fails at one position is not "
                "accepted at the next",
                i, text::short_text(reached[i]), text::short_text(before));
        }
        if (!is_count(reached[i]) || reached[i] > drafts_with_positions * (1.0 + 1e-9) + slack_of_position) {
            found.push_back(rise);
            return found;
        }
        before = reached[i];
        sum += reached[i];
    }
    const bool adds_up = drafts_with_positions == drafts &&
                         std::abs(sum - accepted) <= position_tolerance * std::max(accepted, 1.0) +
                                                         (derived ? 0.005 * drafts * static_cast<double>(reached.size()) : 0);
    // Counts that rise and add up are what the engine did: rising_position(). Others are rates of another kind.
    if (!rise.empty() && !adds_up) {
        found.push_back(rise);
    } else if (drafts_with_positions == drafts && !reached.empty() && !adds_up) {
        found.push_back(fmt::format("{} accepted tokens, but {} over its positions; rates by position must be unconditional",
                                    text::short_text(accepted), text::short_text(sum)));
    }
    return found;
}

std::vector<double> reached_of_histogram(const std::vector<double>& histogram) {
    std::vector<double> reached(histogram.empty() ? 0 : histogram.size() - 1, 0.0);
    double above = 0.0;
    for (std::size_t j = histogram.size(); j-- > 1;) {
        above += histogram[j];
        reached[j - 1] = above;
    }
    return reached;
}

}  // namespace treeline::runs
