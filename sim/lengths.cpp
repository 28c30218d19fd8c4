#include "sim/lengths.h"

#include <cmath>
#include <limits>

namespace treeline::sim {
namespace {

/// E[length^power].
double moment(const Lengths& lengths, int power) {
    double sum = 0.0, shares = 0.0;
    for (const LengthShare& length : lengths) {
        sum += length.share * std::pow(length.tokens, power);
        shares += length.share;
    }
    return sum / shares;
}

double normal_below(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

}  // namespace

double mean_length(const Lengths& lengths) { return moment(lengths, 1); }

Lengths log_normal_lengths(double mean, double spread) {
    if (spread <= 0.0) {
        return {{mean, 1.0}};
    }
    constexpr double width = 0.5, outermost = 3.25;
    const double sigma = std::sqrt(std::log1p(spread * spread));
    Lengths lengths;
    double low = -std::numeric_limits<double>::infinity();
    for (double edge = -outermost; low <= outermost; edge += width) {
        const double high = edge <= outermost ? edge : std::numeric_limits<double>::infinity();
        const double share = normal_below(high) - normal_below(low);
        // The share of all tokens that lies in this part of the requests: the same distribution, shifted by sigma.
        const double tokens = normal_below(high - sigma) - normal_below(low - sigma);
        lengths.push_back({mean * tokens / share, share});
        low = high;
    }
    return lengths;
}

double mean_context(const Lengths& prompts, const Lengths& answers) {
    return mean_length(prompts) + 0.5 * moment(answers, 2) / moment(answers, 1);
}

}  // namespace treeline::sim
