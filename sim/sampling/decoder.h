// Acceptance of speculative decoding between two synthetic models: measured by decoding, and computed.
#pragma once

#include "numerics/random.h"
#include "sim/sampling/round_law.h"
#include "sim/trees/rank_acceptance.h"

namespace treeline::sim::sampling {

/// What is decoded: requests that start from a last token drawn uniformly and run for this many rounds, each from where the
/// last one ended. Their number is fixed so that τ is a plain mean (no ratio of random numbers). One round is the default, as
/// at low temperature a model of few tokens soon goes round in a circle, in which τ is that of a few contexts only; text does
/// not.
struct Requests {
    int vocabulary = 2;
    int rounds_each = 1;
};

/// What decoding measured.
struct MeasuredAcceptance {
    long long rounds = 0, tokens = 0;
    double accept_length = 0.0;            ///< τ: tokens a round, correction or bonus token included
    double standard_error = 0.0;           ///< of τ, from the spread between requests
    std::vector<double> rounds_accepting;  ///< rounds in which exactly 0, 1, … drafts were accepted
    std::vector<double> accepted_by_rank;  ///< how often the child of rank 1, 2, … was the accepted one
    double none_accepted = 0.0;            ///< at how many accepted parents none of the children was

    /// Half the width of the 99 % interval of τ (normal approximation: 2.576 standard errors).
    [[nodiscard]] double margin() const { return 2.5758293035489004 * standard_error; }
    [[nodiscard]] RankAcceptance by_rank() const { return RankAcceptance::from_counts(accepted_by_rank, none_accepted); }
    [[nodiscard]] Acceptance by_position() const { return acceptance_from_histogram(rounds_accepting); }
};

/// Decodes `count` ≥ 2 requests; deterministic in `random`.
MeasuredAcceptance decode(const Round& round, Requests requests, int count, numerics::Random& random);

/// The mean over worlds decoded with equally many requests each.
MeasuredAcceptance combined(const std::vector<MeasuredAcceptance>& worlds);

/// The expectation of decode(): the mean of the rounds of a request. `next_root` is the distribution of its last token.
ExpectedRound expected_acceptance(const RoundLaw& law, Requests requests);

}  // namespace treeline::sim::sampling
