// How the values of a column are distributed over the points of a sweep, from counts alone: merged in any order, parts give the
// same bits as the whole.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "sweeps/column_kernels.h"

namespace treeline::sweeps {

/// Counts of values in classes that are 1/128 of a power of two wide: a quantile is right within 0.4 %.
class Distribution {
public:
    Distribution();

    /// Values that are not finite, or whose penalty is not 0, are skipped.
    void add(const TileColumn& values, const TileColumn& penalty, std::size_t size);
    void merge(const Distribution& other);

    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] double least() const { return least_; }
    [[nodiscard]] double most() const { return most_; }
    /// The value that a share of all values lie at or below; NaN without values.
    [[nodiscard]] double quantile(double share) const;

    /// Values in [from, to).
    struct Bar {
        double from = 0.0, to = 0.0;
        std::uint64_t count = 0;
    };
    /// At most `most` bars that hold all values, of equal width on a logarithmic scale.
    [[nodiscard]] std::vector<Bar> histogram(std::size_t most) const;

    /// For storing: the counts that are not 0, with their classes.
    struct Filled {
        std::uint64_t place = 0;
        std::uint64_t count = 0;
    };
    [[nodiscard]] std::vector<Filled> filled() const;
    void restore(double least, double most, const std::vector<Filled>& filled);

private:
    std::vector<std::uint64_t> counts_;
    std::uint64_t count_ = 0;
    double least_ = std::numeric_limits<double>::infinity(), most_ = -std::numeric_limits<double>::infinity();
};

}  // namespace treeline::sweeps
