// How a model is shared out over devices beside tensor parallelism: attention data parallelism, expert parallelism and pipeline
// stages (docs/cost-model.md, section 2.5). What collectives between the ranks cost is priced like any operation.
#pragma once

#include <string>
#include <vector>

#include "sim/model.h"
#include "sim/units.h"

namespace treeline::sim {

/// Degrees in the vocabulary of engines. `tensor` ranks share each layer; data·tensor ranks make a stage, and share its
/// experts; pipeline·data·tensor devices serve the model.
struct Parallelism {
    double data = 1.0;          ///< groups of ranks that run attention for requests of their own (attention data parallelism)
    double experts = 1.0;       ///< ranks among which experts are dealt out; each is cut over the rest of a stage's ranks
    double pipeline = 1.0;      ///< stages, each with an equal part of the layers
    double draft_tensor = 0.0;  ///< ranks that share the drafter's layers; 0 = as many as share the target's

    friend bool operator==(const Parallelism&, const Parallelism&) = default;
};

/// Ranks of one stage: those that share its experts.
inline double ranks_of_stage(double tensor, const Parallelism& parallel) { return tensor * parallel.data; }

/// Ranks over which the hidden width of each expert is cut.
inline double cuts_of_expert(double tensor, const Parallelism& parallel) {
    return ranks_of_stage(tensor, parallel) / parallel.experts;
}

inline double devices_of(double tensor, const Parallelism& parallel) {
    return ranks_of_stage(tensor, parallel) * parallel.pipeline;
}

/// "tensor 4, attention data 2, experts 8, pipeline 2": those above 1, tensor parallelism left out where `tensor` is 1.
std::string text_of(double tensor, const Parallelism& parallel);

/// The part of the layers that the largest stage holds: ceil(layers / stages) / layers.
double largest_stage(const Model& model, double stages);

/// Why this model cannot be shared out so, as sentences that name the degree at fault. Heads are checked elsewhere: tensor
/// parallelism alone cuts them.
std::vector<std::string> problems_of(const Model& model, double tensor, const Parallelism& parallel);

/// Mean of the largest of n independent standard normal variables; 0 for n = 1. Harter, Biometrika 48 (1961), table 1, at
/// powers of two, linear in log n between them; beyond 1,024 as there.
double expected_largest(double n);

/// What the busiest of `ranks` computes while tokens choose `active` of `experts`, dealt out evenly: with N tokens it has the
/// rows of share·N + spread·√N tokens of a mean rank, at most of most·N. Uniform routing: each token reaches an expert of a
/// rank by a hypergeometric draw, and ranks are nearly independent. `skew` is the exponent of a power law of the experts'
/// shares by rank (Zipf; 0 = uniform): where popular experts meet on a rank, it stays busier however many tokens there are.
struct BusiestRank {
    double share = 1.0, spread = 0.0, most = 1.0;
};
BusiestRank busiest_rank(double experts, double active, double ranks, double skew);

/// Distinct ranks that a token's experts lie on, in the mean under uniform routing.
double reached_ranks(double experts, double active, double ranks);

}  // namespace treeline::sim
