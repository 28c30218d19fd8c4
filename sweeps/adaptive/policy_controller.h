// The choices of a policy in a simulated decoding, round by round.
#pragma once

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "sweeps/adaptive/bandit.h"
#include "sweeps/adaptive/policies.h"

namespace treeline::sweeps {

/// One sequence of the batch in one round.
struct PolicyDraft {
    std::vector<double> chances;     ///< of each position, had it been reached
    std::vector<double> confidence;  ///< what the policy takes them for
    std::vector<double> luck;        ///< it is accepted if this is below its chance
    int drafted = 0;
    int verified = 0;
    int accepted = 0;
};

/// A policy's choices, round by round.
class PolicyController {
public:
    /// Problem and times must outlive it.
    PolicyController(const Policy& policy, const PolicyProblem& problem, const PolicyTimes& times);

    /// Draft and verification lengths of every sequence; the passes that drafting takes.
    int plan(std::vector<PolicyDraft>& batch);
    void learn(const std::vector<PolicyDraft>& batch, Seconds time);

private:
    [[nodiscard]] int longest() const { return static_cast<int>(problem_->per_position.size()); }
    int plan_by_confidence(std::vector<PolicyDraft>& batch);
    int plan_by_budget(std::vector<PolicyDraft>& batch);
    void learn_steps(double accepted);
    void learn_throughput(const std::vector<PolicyDraft>& batch);

    Policy policy_;
    const PolicyProblem* problem_;
    const PolicyTimes* times_;
    std::vector<int> candidates_;
    int steps_ = 0;
    int rounds_ = 0;
    double average_ = 0.0;    ///< of accepted drafts
    double threshold_ = 0.0;  ///< of AdaEDL
    double acceptance_ = 0.9;
    std::deque<std::pair<std::vector<double>, std::vector<double>>> window_;  ///< accepted and drafted by position
    std::optional<UcbBandit> bandit_;
};

}  // namespace treeline::sweeps
