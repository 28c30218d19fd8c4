// How long prompts and answers are, as a distribution.
#pragma once

#include <vector>

namespace treeline::sim {

struct LengthShare {
    double tokens = 0.0;
    double share = 1.0;  ///< of requests; shares need not sum to 1
};

/// Lengths of prompts or of answers, in tokens. At least one, with shares above 0.
using Lengths = std::vector<LengthShare>;

/// The mean over requests.
double mean_length(const Lengths& lengths);

/// A log-normal distribution with this mean and a standard deviation of `spread` × mean, in fifteen parts of half a standard
/// deviation of the logarithm each (the outer ones are open), every part with the mean of what lies in it. A spread of 0 is a
/// single length.
Lengths log_normal_lengths(double mean, double spread);

/// Tokens that a decoding request has in its cache, in the mean over the tokens that are generated: its prompt and half of its
/// answer. Long answers decode for longer: E[p] + E[o²]/(2·E[o]), with lengths of prompts and answers independent.
double mean_context(const Lengths& prompts, const Lengths& answers);

}  // namespace treeline::sim
