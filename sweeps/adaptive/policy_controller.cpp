#include "sweeps/adaptive/policy_controller.h"

#include <algorithm>
#include <cmath>

namespace treeline::sweeps {
namespace {

/// AdaEDL's bound from below on the acceptance of a draft: 1 − sqrt(γ·H), γ = 0.2, of a distribution with `confidence` on its
/// best token and the rest evenly on nine others.
double acceptance_bound(double confidence) {
    const double rest = std::max(1e-12, 1.0 - confidence);
    const double entropy = -confidence * std::log(std::max(1e-12, confidence)) - rest * std::log(rest / 9.0);
    return 1.0 - std::sqrt(0.2 * entropy);
}

}  // namespace

PolicyController::PolicyController(const Policy& policy, const PolicyProblem& problem, const PolicyTimes& times)
    : policy_(policy), problem_(&problem), times_(&times), candidates_(policy.candidates) {
    if (candidates_.empty()) {
        for (const int candidate : {1, 3, 5, 7}) {
            if (candidate <= longest()) {
                candidates_.push_back(candidate);
            }
        }
    }
    steps_ = policy.kind == PolicyKind::fixed ? policy.length : longest();
    if (policy.kind == PolicyKind::ema_steps || policy.kind == PolicyKind::throughput) {
        steps_ = candidates_[candidates_.size() / 2];
        average_ = std::max(0.0, steps_ - 1.0);
    }
    if (policy.kind == PolicyKind::bandit) {
        bandit_.emplace(static_cast<std::size_t>(longest()) + 1, BanditRule{0.2, BanditReward::time_per_token, false});
    }
}

int PolicyController::plan_by_confidence(std::vector<PolicyDraft>& batch) {
    int passes = 0;
    for (PolicyDraft& draft : batch) {
        while (draft.drafted < longest()) {
            const double confidence = draft.confidence[static_cast<std::size_t>(draft.drafted)];
            const bool goes_on = policy_.kind == PolicyKind::cut_off ? confidence >= policy_.threshold
                                                                     : acceptance_bound(confidence) >= threshold_;
            if (!goes_on) {
                break;
            }
            ++draft.drafted;
        }
        draft.verified = draft.drafted;
        passes = std::max(passes, std::min(longest(), draft.drafted + 1));  // the pass whose token is dropped ran, too
    }
    return passes;
}

/// Verifies the drafts that are most likely to be reached and accepted, as many as make tokens per time the most.
int PolicyController::plan_by_budget(std::vector<PolicyDraft>& batch) {
    std::vector<std::pair<double, std::size_t>> reached;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        batch[i].drafted = longest();
        double survival = 1.0;
        for (const double confidence : batch[i].confidence) {
            survival *= confidence;
            reached.emplace_back(survival, i);
        }
    }
    std::stable_sort(reached.begin(), reached.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    const Seconds drafting = times_->draft.back();
    double tokens = static_cast<double>(batch.size());
    double best = tokens / (drafting + times_->rest_of(0.0)).value();
    std::size_t chosen = 0;
    for (std::size_t n = 1; n <= reached.size(); ++n) {
        tokens += reached[n - 1].first;
        const double rate = tokens / (drafting + times_->rest_of(static_cast<double>(n))).value();
        if (rate > best) {
            best = rate;
            chosen = n;
        }
    }
    for (std::size_t n = 0; n < chosen; ++n) {
        ++batch[reached[n].second].verified;
    }
    return longest();
}

int PolicyController::plan(std::vector<PolicyDraft>& batch) {
    switch (policy_.kind) {
        case PolicyKind::cut_off:
        case PolicyKind::ada_edl:
            return plan_by_confidence(batch);
        case PolicyKind::budget:
            return plan_by_budget(batch);
        case PolicyKind::bandit:
            steps_ = static_cast<int>(bandit_->choose());
            break;
        default:
            break;
    }
    for (PolicyDraft& draft : batch) {
        draft.drafted = draft.verified = steps_;
    }
    return steps_;
}

/// SGLang (adaptive_spec_params.py): every 5 batches after 10, from the average of weight 0.2: up one candidate where it
/// exceeds steps − 0.5, down one where it falls to the lower candidate − 0.5 − 0.25. So the steps stay one beyond the average.
void PolicyController::learn_steps(double accepted) {
    average_ += 0.2 * (accepted - average_);
    if (++rounds_ <= 10 || rounds_ % 5 != 0) {
        return;
    }
    const auto at = std::find(candidates_.begin(), candidates_.end(), steps_);
    if (average_ > steps_ - 0.5 && at + 1 != candidates_.end()) {
        steps_ = *(at + 1);
    } else if (at != candidates_.begin() && average_ <= *(at - 1) - 0.5 - 0.25) {
        steps_ = *(at - 1);
    }
}

/// SGLang (throughput_aware_controller.py): every 10 batches, expected tokens from the last 20 over the profiled time.
/// Positions beyond the current draft go on at the last conditional rate.
void PolicyController::learn_throughput(const std::vector<PolicyDraft>& batch) {
    const auto positions = static_cast<std::size_t>(longest());
    std::vector<double> accepted(positions, 0.0), drafted(positions, 0.0);
    for (const PolicyDraft& draft : batch) {
        for (int i = 0; i < draft.drafted; ++i) {
            drafted[static_cast<std::size_t>(i)] += 1.0;
            accepted[static_cast<std::size_t>(i)] += i < draft.accepted ? 1.0 : 0.0;
        }
    }
    window_.emplace_back(std::move(accepted), std::move(drafted));
    if (window_.size() > 20) {
        window_.pop_front();
    }
    if (++rounds_ % 10 != 0) {
        return;
    }
    double tokens = 1.0, before = 1.0, rate = 0.5, best = 0.0;
    int chosen = steps_;
    for (int i = 1; i <= longest(); ++i) {
        double kept = 0.0, of = 0.0;
        for (const auto& [hit, tried] : window_) {
            kept += hit[static_cast<std::size_t>(i - 1)];
            of += tried[static_cast<std::size_t>(i - 1)];
        }
        const double position = of > 0.0 ? kept / of : before * rate;
        rate = before > 0.0 ? position / before : 0.0;
        before = position;
        tokens += position;
        const double score =
            tokens / (times_->draft[static_cast<std::size_t>(i)] + times_->rest[static_cast<std::size_t>(i)]).value();
        if (std::find(candidates_.begin(), candidates_.end(), i) != candidates_.end() && score > best) {
            best = score;
            chosen = i;
        }
    }
    steps_ = chosen;
}

void PolicyController::learn(const std::vector<PolicyDraft>& batch, Seconds time) {
    double accepted = 0.0, drafted = 0.0;
    for (const PolicyDraft& draft : batch) {
        accepted += draft.accepted;
        drafted += draft.drafted;
    }
    const auto sequences = static_cast<double>(batch.size());
    switch (policy_.kind) {
        case PolicyKind::ema_steps:
            return learn_steps(accepted / sequences);
        case PolicyKind::throughput:
            return learn_throughput(batch);
        case PolicyKind::bandit:
            return bandit_->learn(static_cast<std::size_t>(steps_), time / times_->rest.front(),
                                  (accepted + sequences) / sequences);
        case PolicyKind::ada_edl:
            if (drafted > 0.0) {  // the published update: target 0.9, steps of 0.01, weights 0.5 and 0.9
                acceptance_ = 0.5 * acceptance_ + 0.5 * accepted / drafted;
                const double moved = threshold_ + (acceptance_ < 0.9 ? 0.01 : -0.01);
                threshold_ = 0.9 * threshold_ + 0.1 * moved;
            } else {
                threshold_ -= 0.001;
            }
            return;
        default:
            return;
    }
}

}  // namespace treeline::sweeps
