// Internal to the formats: a generation as llama.cpp counts it, which programs around it report in forms of their own.
#pragma once

#include <vector>

#include "runs/builder.h"

namespace treeline::runs::run_formats_of {

/// What llama.cpp says of a generation. Its clock starts when the first token is there, so that one is of no round.
struct LlamaGeneration {
    double predicted = 0.0, milliseconds = 0.0, drafted = 0.0, accepted = 0.0, context = 0.0;
    double mean_length = 0.0;        ///< as the log prints it, in two decimals; 0 = not printed
    std::vector<double> rates = {};  ///< by position, as printed
    double rounds = 0.0;             ///< as counted; 0 = they follow from the tokens
    int length = 0;                  ///< of its drafts; 0 = it follows from the counts
};

/// Each token that was not drafted is the bonus token of a round; rounds without a draft and an answer that ends within one are
/// told by the printed mean.
double rounds_of(const LlamaGeneration& of);

/// Tokens of the longest of some drafts, by their mean: those that end early are shorter. Rounds that are miscounted by one
/// lengthen the mean by a little, which makes no further token.
int longest_by_mean(double drafted, double rounds);

/// Counts and the time of a round of one answer, or of a plain step where nothing was drafted.
void add_llama_generation(RunBuilder& run, const LlamaGeneration& of);

}  // namespace treeline::runs::run_formats_of
