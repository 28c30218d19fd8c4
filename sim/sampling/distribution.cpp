#include "sim/sampling/distribution.h"

#include <algorithm>
#include <numeric>

#include "numerics/random.h"

namespace treeline::sim::sampling {

double sum(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

double normalise(Probabilities& weights) {
    const double mass = sum(weights);
    if (mass > 0.0) {
        for (double& weight : weights) {
            weight /= mass;
        }
    }
    return mass;
}

int draw(std::span<const double> weights, numerics::Random& random) {
    double left = random.uniform() * sum(weights);
    std::size_t last = 0;
    for (std::size_t token = 0; token < weights.size(); ++token) {
        if (weights[token] > 0.0) {
            last = token;
            left -= weights[token];
            if (left < 0.0) {
                break;
            }
        }
    }
    return static_cast<int>(last);
}

Probabilities positive_difference(std::span<const double> p, std::span<const double> q) {
    Probabilities difference(p.size());
    for (std::size_t token = 0; token < p.size(); ++token) {
        difference[token] = std::max(p[token] - q[token], 0.0);
    }
    return difference;
}

Siblings::Siblings(std::span<const double> q, std::span<const int> ranking)
    : weights_(q.begin(), q.end()), ranking_(ranking), drawn_(q.size(), 0), left_(static_cast<int>(q.size())) {
    update();
}

void Siblings::remove(int token) {
    const auto index = static_cast<std::size_t>(token);
    left_ -= drawn_[index] == 0 ? 1 : 0;
    drawn_[index] = 1;
    weights_[index] = 0.0;
    update();
}

void Siblings::update() {
    next_ = weights_;
    if (normalise(next_) > 0.0 || exhausted()) {
        return;
    }
    const auto best =
        std::find_if(ranking_.begin(), ranking_.end(), [&](int token) { return drawn_[static_cast<std::size_t>(token)] == 0; });
    next_[static_cast<std::size_t>(*best)] = 1.0;
}

}  // namespace treeline::sim::sampling
