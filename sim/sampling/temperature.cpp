#include "sim/sampling/temperature.h"

#include <cmath>
#include <cstdio>

#include "sim/sampling/decoder.h"

namespace treeline::sampling {
namespace {

std::string three_digits(double value) {
    char text[32];
    static_cast<void>(std::snprintf(text, sizeof text, "%.3f", value));
    return text;
}

const char* const too_large =
    "an accept length measured with this tree cannot be fitted, as its closed form would take too long; give one measured with "
    "a "
    "chain or with fewer children a node";

std::vector<SyntheticWorld> with(const std::vector<SyntheticWorld>& worlds, double mismatch, double confidence) {
    std::vector<SyntheticWorld> changed;
    for (const SyntheticWorld& world : worlds) {
        changed.push_back(world.with(mismatch, confidence));
    }
    return changed;
}

/// Precondition: exact_length() has values for this decoding.
double length_with(const std::vector<SyntheticWorld>& worlds, const MethodOnTree& decoding, Temperatures at, double mismatch,
                   double confidence) {
    return *exact_length(with(worlds, mismatch, confidence), decoding, at);
}

FittedWorlds unreachable(const MeasuredLength& measured, double least, double most) {
    return {{},
            "no such models accept " + three_digits(measured.accept_length) + " tokens a round at temperature " +
                three_digits(measured.at.target) + "; they reach " + three_digits(least) + " to " + three_digits(most)};
}

/// The mismatch that gives the measured length, or nothing where none does.
std::optional<double> fitted_mismatch(const std::vector<SyntheticWorld>& worlds, const MethodOnTree& decoding,
                                      const MeasuredLength& measured, double confidence) {
    const auto length = [&](double mismatch) { return length_with(worlds, decoding, measured.at, mismatch, confidence); };
    double low = 0.0, high = 16.0 * worlds.front().parameters().sharpness;
    if (length(low) < measured.accept_length || length(high) > measured.accept_length) {
        return std::nullopt;
    }
    constexpr int halvings = 30;
    for (int i = 0; i < halvings; ++i) {
        const double middle = 0.5 * (low + high);
        (length(middle) >= measured.accept_length ? low : high) = middle;
    }
    return 0.5 * (low + high);
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
        total += expected_acceptance(*law, world.parameters().vocabulary).accept_length();
    }
    return total / static_cast<double>(worlds.size());
}

FittedWorlds fit_mismatch(const std::vector<SyntheticWorld>& worlds, const MethodOnTree& decoding, MeasuredLength measured) {
    if (!exact_length(worlds, decoding, measured.at)) {
        return {{}, too_large};
    }
    const WorldParameters& parameters = worlds.front().parameters();
    const std::optional<double> mismatch = fitted_mismatch(worlds, decoding, measured, parameters.confidence);
    if (!mismatch) {
        const auto length = [&](double m) { return length_with(worlds, decoding, measured.at, m, parameters.confidence); };
        return unreachable(measured, length(16.0 * parameters.sharpness), length(0.0));
    }
    return {with(worlds, *mismatch, parameters.confidence), ""};
}

FittedWorlds fit_mismatch_and_confidence(const std::vector<SyntheticWorld>& worlds, const MethodOnTree& decoding,
                                         MeasuredLength first, MeasuredLength second) {
    if (!exact_length(worlds, decoding, first.at) || !exact_length(worlds, decoding, second.at)) {
        return {{}, too_large};
    }
    double least = decoding.tree.depth() + 1.0, most = 1.0;
    const auto second_length = [&](double confidence) -> std::optional<double> {
        const std::optional<double> mismatch = fitted_mismatch(worlds, decoding, first, confidence);
        if (!mismatch) {
            return std::nullopt;
        }
        const double length = length_with(worlds, decoding, second.at, *mismatch, confidence);
        least = std::min(least, length);
        most = std::max(most, length);
        return length;
    };
    constexpr double step = 1.5, smallest = 0.01;
    double high = 0.0;  // the smallest confidence so far that accepts at least as much as measured
    for (double confidence = 1.0; confidence > smallest; confidence /= step) {
        const std::optional<double> length = second_length(confidence);
        if (!length) {
            continue;
        }
        if (*length >= second.accept_length) {
            high = confidence;
            continue;
        }
        if (high == 0.0) {
            continue;
        }
        double low = confidence;
        constexpr int halvings = 12;
        for (int i = 0; i < halvings; ++i) {
            const double middle = std::sqrt(low * high);
            (second_length(middle).value_or(0.0) >= second.accept_length ? high : low) = middle;
        }
        return {with(worlds, *fitted_mismatch(worlds, decoding, first, high), high), ""};
    }
    return most < least ? unreachable(first, 1.0, decoding.tree.depth() + 1.0) : unreachable(second, least, most);
}

}  // namespace treeline::sampling
