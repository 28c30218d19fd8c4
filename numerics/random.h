// Random numbers that are the same on every machine for the same seed: the standard library's distributions and shuffles are
// not.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace treeline::numerics {

/// A well mixed word for each word: splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
constexpr std::uint64_t mixed(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

/// A seed for the part `number` of what `seed` stands for.
constexpr std::uint64_t seed_of(std::uint64_t seed, std::uint64_t number) { return mixed(mixed(seed) ^ number); }

/// Probabilities of 0, 1, 2, … as something to draw from.
class CountDistribution {
public:
    CountDistribution() = default;
    /// Non-negative, summing to 1 within rounding.
    explicit CountDistribution(const std::vector<double>& probabilities) {
        double sum = 0.0;
        for (const double probability : probabilities) {
            at_most_.push_back(sum += probability);
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

/// xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021), its state filled by splitmix64.
/// What takes a logarithm is equal on every machine up to its last digit.
class Random {
public:
    explicit Random(std::uint64_t seed) {
        for (std::uint64_t& word : state_) {
            word = mixed(seed);
            seed += 0x9e3779b97f4a7c15u;
        }
    }
    /// Streams of one seed are independent of each other for practical purposes.
    Random(std::uint64_t seed, std::uint64_t stream) : Random(seed_of(seed, stream)) {}

    std::uint64_t bits() {
        const std::uint64_t result = rotated(state_[1] * 5, 7) * 9;
        const std::uint64_t shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = rotated(state_[3], 45);
        return result;
    }

    /// In [0, 1), a multiple of 2^-53.
    double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

    /// 0 … bound − 1. The bias of the multiplication is below bound / 2^53.
    template <std::integral Integer>
    Integer below(Integer bound) {
        return static_cast<Integer>(uniform() * static_cast<double>(bound));
    }

    /// Mean 0, variance 1 (Marsaglia's polar method; the second value is discarded, to keep no hidden state).
    double normal() {
        while (true) {
            const double x = 2.0 * uniform() - 1.0, y = 2.0 * uniform() - 1.0, square = x * x + y * y;
            if (square > 0.0 && square < 1.0) {
                return x * std::sqrt(-2.0 * std::log(square) / square);
            }
        }
    }

    /// With mean 1 / rate.
    double exponential(double rate) { return -std::log1p(-uniform()) / rate; }

    /// Trials up to the first success, 1, 2, …, with this mean (above 1).
    int geometric(double mean) { return 1 + static_cast<int>(exponential(-std::log1p(-1.0 / mean))); }

    int draw(const CountDistribution& distribution) { return distribution.certain() ? 0 : distribution.at(uniform()); }

    /// Every order is equally likely (Fisher and Yates).
    template <typename Value>
    void shuffle(std::vector<Value>& values) {
        for (std::size_t left = values.size(); left > 1; --left) {
            std::swap(values[left - 1], values[below(left)]);
        }
    }

private:
    static std::uint64_t rotated(std::uint64_t value, int by) { return (value << by) | (value >> (64 - by)); }

    std::array<std::uint64_t, 4> state_{};
};

}  // namespace treeline::numerics
