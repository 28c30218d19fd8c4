#include "sim/sampling/world.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "numerics/random.h"

namespace treeline::sim::sampling {
namespace {

void check(std::vector<std::string>& problems, const char* what, double value, double low, double high) {
    if (!(value >= low && value <= high)) {
        problems.push_back(std::string(what) + " must lie between " + std::to_string(static_cast<int>(low)) + " and " +
                           std::to_string(static_cast<int>(high)));
    }
}

void write_softmax(std::span<const double> logits, double largest, double temperature, std::span<double> out) {
    double total = 0.0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
        out[i] = std::exp((logits[i] - largest) / temperature);
        total += out[i];
    }
    for (double& value : out) {
        value /= total;
    }
}

}  // namespace

std::vector<std::string> problems(const WorldParameters& parameters) {
    std::vector<std::string> problems;
    check(problems, "the vocabulary", parameters.vocabulary, 2, most_vocabulary);
    check(problems, "the sharpness", parameters.sharpness, 0, 100);
    check(problems, "the mismatch", parameters.mismatch, 0, 1000);
    check(problems, "the caution", parameters.caution, -10, 100);
    return problems;
}

double WorldParameters::confidence() const {
    const double signal = sharpness * sharpness, noise = mismatch * mismatch;
    return signal + noise > 0.0 ? std::pow(signal / (signal + noise), caution) : 1.0;
}

NextToken::NextToken(const std::vector<double>& logits, int vocabulary, double temperature)
    : vocabulary_(vocabulary), probabilities_(logits.size(), 0.0), ranking_(logits.size()) {
    const auto width = static_cast<std::size_t>(vocabulary);
    for (std::size_t start = 0; start < logits.size(); start += width) {
        const std::span<const double> row(logits.data() + start, width);
        const std::span<int> ranking(ranking_.data() + start, width);
        std::iota(ranking.begin(), ranking.end(), 0);
        std::stable_sort(ranking.begin(), ranking.end(),
                         [&](int a, int b) { return row[static_cast<std::size_t>(a)] > row[static_cast<std::size_t>(b)]; });
        const auto best = static_cast<std::size_t>(ranking.front());
        if (temperature > 0.0) {
            write_softmax(row, row[best], temperature, {probabilities_.data() + start, width});
        } else {
            probabilities_[start + best] = 1.0;
        }
    }
}

SyntheticWorld::SyntheticWorld(const WorldParameters& parameters) : parameters_(parameters) {
    const auto entries = static_cast<std::size_t>(parameters.vocabulary) * static_cast<std::size_t>(parameters.vocabulary);
    numerics::Random random(parameters.seed);
    for (std::size_t i = 0; i < entries; ++i) {
        target_.push_back(random.normal());
        noise_.push_back(random.normal());
    }
}

SyntheticWorld SyntheticWorld::with(double mismatch, double caution) const {
    SyntheticWorld other = *this;
    other.parameters_.mismatch = mismatch;
    other.parameters_.caution = caution;
    return other;
}

Models SyntheticWorld::at(double target_temperature, double drafter_temperature) const {
    const double confidence = parameters_.confidence();
    std::vector<double> target(target_.size()), drafter(target_.size());
    for (std::size_t i = 0; i < target_.size(); ++i) {
        target[i] = parameters_.sharpness * target_[i];
        drafter[i] = confidence * (target[i] + parameters_.mismatch * noise_[i]);
    }
    return {NextToken(target, parameters_.vocabulary, target_temperature),
            NextToken(drafter, parameters_.vocabulary, drafter_temperature)};
}

std::vector<SyntheticWorld> worlds(const WorldParameters& parameters, int count) {
    std::vector<SyntheticWorld> all;
    for (int i = 0; i < count; ++i) {
        WorldParameters each = parameters;
        each.seed += static_cast<std::uint64_t>(i);
        all.emplace_back(each);
    }
    return all;
}

}  // namespace treeline::sim::sampling
