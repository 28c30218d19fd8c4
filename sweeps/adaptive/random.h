// Random numbers that are the same on every platform: the distributions of <random> are not.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace treeline {

/// Probabilities of 0, 1, 2, … as something to draw from.
class CountDistribution {
public:
    CountDistribution() = default;
    /// Non-negative, summing to 1 within rounding.
    explicit CountDistribution(const std::vector<double>& probabilities) {
        double sum = 0.0;
        for (const double probability : probabilities) {
            sum += probability;
            at_most_.push_back(sum);
        }
    }

    /// The smallest i with u < P(at most i), for u in [0, 1).
    [[nodiscard]] int at(double u) const {
        std::size_t i = 0;
        while (i + 1 < at_most_.size() && u >= at_most_[i]) {
            ++i;
        }
        return static_cast<int>(i);
    }
    /// One outcome only: drawing needs no random number.
    [[nodiscard]] bool certain() const { return at_most_.size() <= 1; }

private:
    std::vector<double> at_most_;
};

class RandomStream {
public:
    /// Streams of one seed are independent of each other for practical purposes, and each is reproducible.
    RandomStream(std::uint64_t seed, std::uint64_t stream) : engine_(engine_of(seed, stream)) {}

    /// In [0, 1), with 53 random bits.
    double uniform() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }
    /// With mean 1 / rate.
    double exponential(double rate) { return -std::log1p(-uniform()) / rate; }
    int draw(const CountDistribution& distribution) { return distribution.certain() ? 0 : distribution.at(uniform()); }

private:
    static std::mt19937_64 engine_of(std::uint64_t seed, std::uint64_t stream) {
        std::seed_seq words{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                            static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)};
        return std::mt19937_64(words);
    }

    std::mt19937_64 engine_;
};

}  // namespace treeline
