// Random numbers that are the same on every machine for the same seed (the standard library's distributions are not).
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace treeline::sampling {

/// xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021), its state filled by splitmix64.
class Random {
public:
    explicit Random(std::uint64_t seed) {
        for (std::uint64_t& word : state_) {
            seed += 0x9e3779b97f4a7c15u;
            std::uint64_t mixed = seed;
            mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
            mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
            word = mixed ^ (mixed >> 31);
        }
    }

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
    int below(int bound) { return static_cast<int>(uniform() * bound); }

    /// Mean 0, variance 1 (Marsaglia's polar method; the second value is discarded, to keep no hidden state). Equal on every
    /// machine up to the last digit of `log`.
    double normal() {
        while (true) {
            const double x = 2.0 * uniform() - 1.0, y = 2.0 * uniform() - 1.0, square = x * x + y * y;
            if (square > 0.0 && square < 1.0) {
                return x * std::sqrt(-2.0 * std::log(square) / square);
            }
        }
    }

private:
    static std::uint64_t rotated(std::uint64_t value, int by) { return (value << by) | (value >> (64 - by)); }

    std::array<std::uint64_t, 4> state_{};
};

}  // namespace treeline::sampling
