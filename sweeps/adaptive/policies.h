// Policies that choose how much to draft and to verify while decoding, simulated on a table of round times.
//
// Drafts differ: the chance that a draft is accepted, given that those before it were, is
//     P = 1 / (1 + exp(−(m_i + u + e))),   u ~ N(0, request_spread²) for each request, e ~ N(0, draft_spread²) for each draft,
// where the m_i are such that the mean acceptance by position is the stated one. A drafter's confidence is P with a further
// error of N(0, confidence_error²) in its logit; without one it is P itself, and what a policy gains from it is then an upper
// bound. With spreads of 0 all drafts are alike and no policy can beat the best fixed length.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/enum_names.h"
#include "sim/units.h"
#include "sweeps/adaptive/interval.h"

namespace treeline::sweeps {

/// Round times of one batch size. A draft of k tokens runs k passes, or one where all are drafted at once.
struct PolicyTimes {
    int batch = 1;
    std::vector<Seconds> draft;  ///< by passes, 0 … longest
    std::vector<Seconds> rest;   ///< verification and all else by draft tokens of each sequence, 0 … longest

    /// Of a round that verifies so many drafts in all: linear between those of every length.
    [[nodiscard]] Seconds rest_of(double verified_drafts) const;
};

struct PolicyProblem {
    std::vector<double> per_position;  ///< a_i, as far as drafts go
    double draft_spread = 1.5;         ///< standard deviation of e, in logits
    double request_spread = 0.5;       ///< of u
    double confidence_error = 0.0;     ///< of the confidence that policies see, in logits
    double output_tokens =
        256.0;  ///< of a request; it lasts a geometric number of rounds, then the next one comes with a u of its own
    bool parallel = false;                ///< one pass drafts all tokens
    std::vector<int> fixed_lengths = {};  ///< draft tokens that policies are compared with; empty: 0 … longest
    std::vector<PolicyTimes> batches;
};

enum class PolicyKind {
    fixed,    ///< `length` drafts in every round
    cut_off,  ///< drafts until confidence falls below `threshold` (llama.cpp's p_min; DSpark's confidence cut-off)
    ada_edl,  ///< drafts until 1 − sqrt(0.2·entropy) falls below a threshold that follows the acceptance (arXiv 2410.18351)
    ema_steps,   ///< SGLang: one step beyond the moving average of accepted drafts
    throughput,  ///< SGLang's throughput_aware: the candidate with the most expected tokens per profiled time
    budget,  ///< vLLM's adaptive and DSpark's confidence-scheduled verification: drafts all, verifies what pays in the batch
    bandit   ///< UCB over the lengths by tokens per time (sweeps/adaptive/bandit.h)
};
constexpr auto names_in(PolicyKind) {
    using enum PolicyKind;
    return enum_names<PolicyKind>({{fixed, "fixed"},
                                   {cut_off, "cut-off"},
                                   {ada_edl, "adaedl"},
                                   {ema_steps, "ema-steps"},
                                   {throughput, "throughput-aware"},
                                   {budget, "adaptive-verification"},
                                   {bandit, "bandit"}});
}

struct Policy {
    PolicyKind kind = PolicyKind::fixed;
    int length = 0;                    ///< of `fixed`; 0 for others: the longest
    double threshold = 0.5;            ///< of `cut_off`
    std::vector<int> candidates = {};  ///< of `ema_steps` and `throughput`; empty: 1, 3, 5, 7 as far as they go
    [[nodiscard]] std::string name() const;
};

/// Every violated constraint as a sentence.
std::vector<std::string> problems_of(const PolicyProblem& problem);

struct PolicyRuns {
    std::int64_t rounds = 1000;
    std::int64_t repetitions = 20;
    std::uint64_t seed = 1;
};

/// A policy at one batch size.
struct ServedByPolicy {
    std::string name;
    Interval tokens_per_second;
    Interval gain;          ///< over the best fixed length at this batch − 1, repetition by repetition (95 %)
    double drafted = 0.0;   ///< tokens of a round and sequence
    double verified = 0.0;  ///< drafts of a round and sequence that were verified
    double accepted = 0.0;  ///< drafts of a round and sequence
};

struct PolicyBatchOutcome {
    int batch = 1;
    int best_fixed = 0;  ///< draft tokens
    std::vector<ServedByPolicy> policies;
};

/// The problem has no problems_of(). Its fixed lengths are simulated, too, and the best of them is reported first.
std::vector<PolicyBatchOutcome> simulate_policies(const PolicyProblem& problem, const std::vector<Policy>& policies,
                                                  const PolicyRuns& runs);

/// m_1, m_2, …: see above. By quadrature over u and e.
std::vector<double> position_logits(const PolicyProblem& problem);

/// What a policy was measured to do, beside the fixed lengths that were.
struct MeasuredPolicy {
    std::string name;          ///< that of a simulated policy
    std::vector<double> gain;  ///< by batch: its tokens/s over those of the best fixed length that was measured, − 1
};

struct PoliciesInput {
    std::string title, source;
    std::string priced;  ///< the design point behind the times; empty where they were measured
    std::string acceptance;
    PolicyProblem problem;
    std::vector<Policy> policies;
    std::vector<MeasuredPolicy> measured;
    PolicyRuns runs;

    /// The measured gain of a policy at the batch of that index, where it was measured.
    [[nodiscard]] std::optional<double> measured_gain(const std::string& policy, std::size_t batch) const;
};

struct PoliciesAnswer {
    PoliciesInput input;
    std::vector<PolicyBatchOutcome> batches;
};

}  // namespace treeline::sweeps
