// A synthetic pair of language models, small enough that speculative decoding of them can be computed exactly.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/sampling/distribution.h"

namespace treeline::sim::sampling {

inline constexpr int most_vocabulary = 256;

/// Two first-order Markov models: the next token depends on the last one alone. For each last token, target logits are
/// z ~ N(0, sharpness²) and drafter logits confidence · (z + N(0, mismatch²)), independently for every token.
///
/// `mismatch` alone decides how often both agree on the best token (temperature 0). `confidence` decides what the drafter loses
/// when tokens are sampled. With w = sharpness² / (sharpness² + mismatch²) it is w^caution: at caution 1 the drafter's logits
/// are the best guess of the target's (calibrated), at 0 it takes its own at face value, above 1 it is less sure than it should
/// be. Drafters trained to imitate the target's text from little capacity are of the last kind; acceptance then falls with the
/// temperature. A drafter without mismatch is the target itself, whatever its caution.
struct WorldParameters {
    int vocabulary = 32;
    double sharpness = 6.0;  ///< 6 at 32 tokens: the target's entropy at temperature 1 is about 0.7 nats a token
    double mismatch = 2.5;
    /// 6.1 fits STree's chains on MT-Bench (arXiv 2505.14969, table 2: 2.04 at temperature 0, 1.55 at 1); independent
    /// drafters with trees of (3,2,2,1,1) (arXiv 2506.01206, tables 1 and 2: 2.72 and 2.63, 3.10 and 3.03, 3.13 and 2.74) lose
    /// less: about 2, 2 and 3.6.
    double caution = 6.0;
    std::uint64_t seed = 1;

    /// Factor on the drafter's logits.
    [[nodiscard]] double confidence() const;
};

/// Every violated constraint as a sentence; empty when usable.
std::vector<std::string> problems(const WorldParameters& parameters);

/// One model's predictions after each token.
class NextToken {
public:
    /// Softmax of logits / temperature, row by row; temperature 0 puts everything on the largest logit.
    NextToken(const std::vector<double>& logits, int vocabulary, double temperature);

    [[nodiscard]] int vocabulary() const { return vocabulary_; }
    [[nodiscard]] std::span<const double> after(int token) const { return row(probabilities_, token); }
    /// All tokens, the most likely first; known at temperature 0, too.
    [[nodiscard]] std::span<const int> ranking_after(int token) const { return row(ranking_, token); }

private:
    template <class T>
    [[nodiscard]] std::span<const T> row(const std::vector<T>& table, int token) const {
        const auto width = static_cast<std::size_t>(vocabulary_);
        return {table.data() + static_cast<std::size_t>(token) * width, width};
    }

    int vocabulary_;
    std::vector<double> probabilities_;
    std::vector<int> ranking_;
};

/// Target and drafter at their temperatures.
struct Models {
    NextToken target, drafter;
};

class SyntheticWorld {
public:
    /// Precondition: no problems().
    explicit SyntheticWorld(const WorldParameters& parameters);

    /// The same random numbers with another mismatch and caution, so that acceptance changes smoothly with either.
    [[nodiscard]] SyntheticWorld with(double mismatch, double caution) const;
    /// Temperatures of at least 0.
    [[nodiscard]] Models at(double target_temperature, double drafter_temperature) const;
    [[nodiscard]] Models at(double temperature) const { return at(temperature, temperature); }
    [[nodiscard]] const WorldParameters& parameters() const { return parameters_; }

private:
    WorldParameters parameters_;
    std::vector<double> target_, noise_;  ///< standard normal, row by row: the last token, then the next
};

/// `count` worlds with the seeds parameters.seed, parameters.seed + 1, …
std::vector<SyntheticWorld> worlds(const WorldParameters& parameters, int count);

}  // namespace treeline::sim::sampling
