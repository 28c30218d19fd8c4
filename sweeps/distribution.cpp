#include "sweeps/distribution.h"

#include <algorithm>
#include <cmath>

#include "numerics/bits.h"

namespace treeline::sweeps {
namespace {

// Classes of positive values are the upper bits of their representation: 11 of the exponent and 7 of the mantissa, for powers
// of two from -64 to 63. Class 0 holds what is smaller, 0 and negative values among it.
constexpr int shift = 52 - 7;
constexpr std::uint64_t first_class = std::uint64_t{1023 - 64} << 7;
constexpr std::size_t classes = 128 * 128 + 1;

std::size_t class_of(double value) {
    if (!(value > 0.0)) {
        return 0;
    }
    const std::uint64_t upper = numerics::bit_cast<std::uint64_t>(value) >> shift;
    return upper < first_class ? 0 : std::min<std::size_t>(classes - 1, static_cast<std::size_t>(upper - first_class) + 1);
}

/// The least value of a class.
double start_of(std::size_t place) { return place == 0 ? 0.0 : numerics::bit_cast<double>((first_class + place - 1) << shift); }

}  // namespace

Distribution::Distribution() : counts_(classes, 0) {}

void Distribution::add(const TileColumn& values, const TileColumn& penalty, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        const double value = values.values[i];
        if (penalty.values[i] == 0.0 && std::isfinite(value)) {
            ++counts_[class_of(value)];
            ++count_;
            least_ = std::min(least_, value);
            most_ = std::max(most_, value);
        }
    }
}

void Distribution::merge(const Distribution& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        counts_[i] += other.counts_[i];
    }
    count_ += other.count_;
    least_ = std::min(least_, other.least_);
    most_ = std::max(most_, other.most_);
}

double Distribution::quantile(double share) const {
    if (count_ == 0) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    const auto wanted = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_))));
    std::uint64_t seen = 0;
    std::size_t place = 0;
    while ((seen += counts_[place]) < wanted) {
        ++place;
    }
    if (place == 0) {
        return least_;
    }
    const double middle = 0.5 * (start_of(place) + (place + 1 < classes ? start_of(place + 1) : most_));
    return std::clamp(wanted == count_ ? most_ : middle, least_, most_);
}

std::vector<Distribution::Bar> Distribution::histogram(std::size_t most) const {
    std::vector<Bar> bars;
    if (count_ == 0) {
        return bars;
    }
    const std::size_t first = class_of(least_), last = class_of(most_);
    const std::size_t width = (last - first + most) / most;
    for (std::size_t place = first; place <= last; place += width) {
        const std::size_t end = std::min(place + width, last + 1);
        Bar bar{start_of(place), end < classes ? start_of(end) : most_, 0};
        for (std::size_t i = place; i < end; ++i) {
            bar.count += counts_[i];
        }
        bars.push_back(bar);
    }
    return bars;
}

std::vector<Distribution::Filled> Distribution::filled() const {
    std::vector<Filled> filled;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        if (counts_[i] > 0) {
            filled.push_back({i, counts_[i]});
        }
    }
    return filled;
}

void Distribution::restore(double least, double most, const std::vector<Filled>& filled) {
    least_ = least;
    most_ = most;
    for (const Filled& entry : filled) {
        counts_.at(static_cast<std::size_t>(entry.place)) += entry.count;
        count_ += entry.count;
    }
}

}  // namespace treeline::sweeps
