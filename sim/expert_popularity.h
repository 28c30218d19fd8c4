// How unevenly a router spreads its tokens over the experts.
#pragma once

namespace treeline::sim {

/// Variance of the experts' shares over their mean squared, if they follow a power law by rank (Zipf) with the exponent
/// `skew`; 0 = all alike.
double popularity_scatter(double experts, double skew);

/// Two kinds of experts that stand for all: of M tokens, an expert stays untouched with probability exp(log_miss·M), one of
/// the `hot_share` that are more popular with exp(log_miss_hot·M).
struct ExpertPopularity {
    double log_miss = 0.0, log_miss_hot = 0.0;
    double hot_share = 0.0;
};
/// The most popular tenth of a power law and all others, each kind at its mean popularity, scaled so that one token touches
/// `active` of `experts`. Within 5 % of the power law's distinct experts up to an exponent of 0.6, within 12 % at 0.9
/// (unit/sim/expert_popularity). Uniform routing, log_miss = ln(1 − active/experts), for a skew of 0.
ExpertPopularity popularity_of(double experts, double active, double skew);

}  // namespace treeline::sim
