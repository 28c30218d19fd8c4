#include "calibrate/timings.h"

#include <algorithm>
#include <cmath>

namespace treeline::calibrate {
namespace {

/// Anything beyond is a typo, and its square might not be finite.
constexpr double most_tokens = 1e9;
constexpr Seconds shortest(1e-12), longest(1e9);

std::string in_row(std::size_t row, const std::string& what) { return "row " + std::to_string(row + 1) + ": " + what; }

std::optional<std::string> problem_of(const Timing& timing) {
    if (!std::isfinite(timing.tokens) || timing.tokens < 0.0) {
        return "tokens must be a finite number, zero or above";
    }
    if (!std::isfinite(timing.time.value()) || timing.time <= Seconds(0.0)) {
        return "the time must be a finite number above zero";
    }
    if (timing.tokens > most_tokens || timing.time < shortest || timing.time > longest) {
        return "takes more than 1e9 tokens, less than a picosecond or more than 1e9 seconds, which no pass does";
    }
    if (timing.spread && !(*timing.spread >= Seconds(0.0) && *timing.spread <= longest)) {
        return "the spread must be between 0 and 1e9 seconds";
    }
    return std::nullopt;
}

}  // namespace

std::vector<double> token_counts(const std::vector<Timing>& timings) {
    std::vector<double> counts;
    counts.reserve(timings.size());
    for (const Timing& timing : timings) {
        counts.push_back(timing.tokens);
    }
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts;
}

std::vector<std::string> problems(const std::vector<Timing>& timings) {
    if (timings.empty()) {
        return {"there are no measurements"};
    }
    if (timings.size() > most_timings) {
        return {"there are " + std::to_string(timings.size()) + " rows, more than " + std::to_string(most_timings)};
    }
    std::vector<std::string> found;
    for (std::size_t i = 0; i < timings.size() && found.size() < 10; ++i) {
        if (const auto problem = problem_of(timings[i])) {
            found.push_back(in_row(i, *problem));
        } else if (timings[i].spread.has_value() != timings[0].spread.has_value()) {
            found.push_back(in_row(i, "a spread must be given in every row or in none"));
            break;
        }
    }
    const std::size_t counts = found.empty() ? token_counts(timings).size() : 0;
    if (counts > most_token_counts) {
        found.push_back("there are " + std::to_string(counts) + " different token counts, more than " +
                        std::to_string(most_token_counts) + "; thin them out");
    }
    return found;
}

}  // namespace treeline::calibrate
