#include "sim/sampling/temperature.h"

#include <cmath>
#include <cstdio>

#include "numerics/bisection.h"
#include "sim/sampling/decoder.h"

namespace treeline::sim::sampling {
namespace {

std::string three_digits(double value) {
    char text[32];
    static_cast<void>(std::snprintf(text, sizeof text, "%.3f", value));
    return text;
}

const char* const too_large =
    "an accept length measured with this tree cannot be fitted, as its closed form would take too long; give one measured with "
    "a chain or with fewer children per node";

std::vector<SyntheticWorld> with(const std::vector<SyntheticWorld>& worlds, double mismatch, double caution) {
    std::vector<SyntheticWorld> changed;
    for (const SyntheticWorld& world : worlds) {
        changed.push_back(world.with(mismatch, caution));
    }
    return changed;
}

/// Precondition: exact_length() has values for this decoding.
double length_with(const std::vector<SyntheticWorld>& worlds, const MethodOnTree& decoding, Temperatures at, double mismatch,
                   double caution) {
    return *exact_length(with(worlds, mismatch, caution), decoding, at);
}

FittedWorlds unreachable(const MeasuredLength& measured, double least, double most) {
    return {{},
            "no such models accept " + three_digits(measured.accept_length) + " tokens per round at temperature " +
                three_digits(measured.at.target) + "; they reach " + three_digits(least) + " to " + three_digits(most)};
}

/// The mismatch that gives the measured length, or nothing where none does.
std::optional<double> fitted_mismatch(const std::vector<SyntheticWorld>& worlds, const MethodOnTree& decoding,
                                      const MeasuredLength& measured, double caution) {
    const auto length = [&](double mismatch) { return length_with(worlds, decoding, measured.at, mismatch, caution); };
    const numerics::Bracket any{0.0, 16.0 * worlds.front().parameters().sharpness};
    if (length(any.low) < measured.accept_length || length(any.high) > measured.accept_length) {
        return std::nullopt;
    }
    return numerics::bisect(any, 24, [&](double mismatch) { return length(mismatch) >= measured.accept_length; }).middle();
}

}  // namespace

std::optional<double> exact_length(const std::vector<SyntheticWorld>& worlds, const MethodOnTree& decoding, Temperatures at) {
    double total = 0.0;
    for (const SyntheticWorld& world : worlds) {
        const Models models = world.at(at.target, at.drafter);
        const std::optional<RoundLaw> law = law_of(decoding.method, models, decoding.tree);
        if (!law) {
            return std::nullopt;
        }
        total += expected_acceptance(*law, {world.parameters().vocabulary}).accept_length();
    }
    return total / static_cast<double>(worlds.size());
}

FittedWorlds fit_mismatch(const std::vector<SyntheticWorld>& worlds, const MethodOnTree& decoding, MeasuredLength measured) {
    if (!exact_length(worlds, decoding, measured.at)) {
        return {{}, too_large};
    }
    const WorldParameters& parameters = worlds.front().parameters();
    const std::optional<double> mismatch = fitted_mismatch(worlds, decoding, measured, parameters.caution);
    if (!mismatch) {
        const auto length = [&](double m) { return length_with(worlds, decoding, measured.at, m, parameters.caution); };
        return unreachable(measured, length(16.0 * parameters.sharpness), length(0.0));
    }
    return {with(worlds, *mismatch, parameters.caution), ""};
}

FittedWorlds fit_mismatch_and_caution(const std::vector<SyntheticWorld>& worlds, const MethodOnTree& decoding,
                                      MeasuredLength first, MeasuredLength second) {
    if (!exact_length(worlds, decoding, first.at) || !exact_length(worlds, decoding, second.at)) {
        return {{}, too_large};
    }
    double least = decoding.tree.depth() + 1.0, most = 1.0;
    const auto second_length = [&](double caution) -> std::optional<double> {
        const std::optional<double> mismatch = fitted_mismatch(worlds, decoding, first, caution);
        if (!mismatch) {
            return std::nullopt;
        }
        const double length = length_with(worlds, decoding, second.at, *mismatch, caution);
        least = std::min(least, length);
        most = std::max(most, length);
        return length;
    };
    constexpr double smallest = 0.5, largest = 50.0, step = 1.5;
    double low = 0.0;  // the largest caution so far that accepts at least as much as measured
    for (double caution = smallest; caution < largest; caution *= step) {
        const std::optional<double> length = second_length(caution);
        if (length && *length >= second.accept_length) {
            low = caution;
        } else if (length && low > 0.0) {
            const auto too_low = [&](double log_caution) {
                return second_length(std::exp(log_caution)).value_or(0.0) >= second.accept_length;
            };
            low = std::exp(numerics::bisect({std::log(low), std::log(caution)}, 10, too_low).low);
            return {with(worlds, *fitted_mismatch(worlds, decoding, first, low), low), ""};
        }
    }
    return most < least ? unreachable(first, 1.0, decoding.tree.depth() + 1.0) : unreachable(second, least, most);
}

}  // namespace treeline::sim::sampling
