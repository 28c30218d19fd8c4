// Acceptance at another temperature: synthetic models fitted to accept as much as was measured, evaluated at the temperature
// wanted.
//
// A model of a model, not a measurement: real vocabularies, texts and drafters differ in ways that two numbers (mismatch and
// caution) cannot hold. It shows in which direction acceptance moves, and roughly how far.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/sampling/method.h"

namespace treeline::sim::sampling {

/// Temperatures at which both models run.
struct Temperatures {
    double target = 1.0;
    double drafter = 1.0;
};

/// What was decoded: a tree (or chain), verified in one way.
struct MethodOnTree {
    Method method = Method::token_wise;
    DraftTree tree;
};

/// τ of the closed form, averaged over the worlds; nothing where the closed form would take too long.
std::optional<double> exact_length(const std::vector<SyntheticWorld>& worlds, const MethodOnTree& decoding, Temperatures at);

struct MeasuredLength {
    Temperatures at;
    double accept_length = 1.0;
};

/// Worlds in agreement with a measurement, or why there are none, as a sentence.
struct FittedWorlds {
    std::vector<SyntheticWorld> worlds;
    std::string problem;
};

/// One measured accept length determines the mismatch; the caution stays. By bisection of the mean over `worlds` (24 halvings
/// of 0 … 16 · sharpness). At temperature 0 acceptance moves in steps, as one context after another stops agreeing, so the fit
/// is only approximate (16 worlds of 32 tokens: to about 0.01). Precondition: no problem(decoding), 1 < accept length < depth +
/// 1.
FittedWorlds fit_mismatch(const std::vector<SyntheticWorld>& worlds, const MethodOnTree& decoding, MeasuredLength measured);

/// Two measured at different temperatures determine mismatch and caution. A drafter too sure of itself loses acceptance like
/// one too unsure; the second kind is assumed: caution is searched from 0.5 to about 50.
FittedWorlds fit_mismatch_and_caution(const std::vector<SyntheticWorld>& worlds, const MethodOnTree& decoding,
                                      MeasuredLength first, MeasuredLength second);

}  // namespace treeline::sim::sampling
