#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/rows.h"

namespace treeline::kernels::cpu {
namespace {

constexpr int block = 1024;

/// The lowest id of the largest logit.
int argmax(ConstRows logits, std::int64_t row, int vocabulary, float* buffer) {
    float best = 0.0F;
    int best_id = -1;
    for (int first = 0; first < vocabulary; first += block) {
        const int count = std::min(block, vocabulary - first);
        const float* values = view(logits, row, first, count, buffer);
        const float here = largest(values, count);
        if (best_id < 0 || here > best) {
            best = here;
            best_id = first + static_cast<int>(std::find(values, values + count, here) - values);
        }
    }
    return best_id;
}

/// The ids of the largest logits, sorted. An id enters only where its logit is above the least of them, which few are.
void top_ids(ConstRows logits, std::int64_t row, int vocabulary, std::span<int> ids, float* buffer, std::vector<float>& kept) {
    kept.clear();
    for (int first = 0; first < vocabulary; first += block) {
        const int count = std::min(block, vocabulary - first);
        const float* values = view(logits, row, first, count, buffer);
        if (kept.size() == ids.size() && !(largest(values, count) > kept.back())) {
            continue;
        }
        for (int i = 0; i < count; ++i) {
            if (kept.size() == ids.size() && !(values[i] > kept.back())) {
                continue;
            }
            const auto at = std::upper_bound(kept.begin(), kept.end(), values[i], std::greater<>()) - kept.begin();
            if (kept.size() == ids.size()) {
                kept.pop_back();
            }
            kept.insert(kept.begin() + at, values[i]);
            std::copy_backward(ids.begin() + at, ids.begin() + std::ptrdiff_t(kept.size()) - 1,
                               ids.begin() + std::ptrdiff_t(kept.size()));
            ids[std::size_t(at)] = first + i;
        }
    }
}

/// Walks from the root; `next_child(token)` names the child that stands, or -1. Returns the last token of the path.
template <class NextChild>
int walk(std::int64_t sequence, int deepest_level, const Accepted& accepted, NextChild next_child) {
    int* path = accepted.path + sequence * (deepest_level + 1);
    std::fill_n(path, deepest_level + 1, -1);
    path[0] = 0;
    int token = 0;
    int count = 0;
    for (int child = next_child(0); child >= 0; child = next_child(token)) {
        path[++count] = child;
        token = child;
    }
    accepted.count[sequence] = count;
    return token;
}

/// The distribution after `temperature` of a row of fp32 logits, as weights to be divided by `total`.
double weights_of(ConstRows logits, std::int64_t row, float temperature, std::vector<float>& weights) {
    const float* values = static_cast<const float*>(logits.data) + row * logits.stride;
    const int vocabulary = static_cast<int>(weights.size());
    const float top = largest(values, vocabulary);
    double total = 0.0;
    for (int first = 0; first < vocabulary; first += block) {
        const int count = std::min(block, vocabulary - first);
        float* part = weights.data() + first;
        for (int i = 0; i < count; ++i) {
            part[i] = (values[first + i] - top) / temperature;
        }
        exponentials(part, count, 0.0F);
        total += sum(part, count);
    }
    return total;
}

/// p becomes max(p - q, 0) with weights and totals as above, unless rounding leaves nothing.
void take_residual(std::vector<float>& p, double& p_total, const std::vector<float>& q, double q_total) {
    const auto factor = static_cast<float>(1.0 / p_total), q_factor = static_cast<float>(1.0 / q_total);
    double total = 0.0;
    for (std::size_t id = 0; id < p.size(); ++id) {
        total += std::max(p[id] * factor - q[id] * q_factor, 0.0F);
    }
    if (total <= 0.0) {
        return;
    }
    for (std::size_t id = 0; id < p.size(); ++id) {
        p[id] = std::max(p[id] * factor - q[id] * q_factor, 0.0F);
    }
    p_total = total;
}

/// The id at which the running sum of the weights passes `uniform` of their total.
int draw(const std::vector<float>& weights, double total, float uniform) {
    const double target = uniform * total;
    double below = 0.0;
    int last = 0;
    for (int id = 0; id < static_cast<int>(weights.size()); ++id) {
        if (weights[std::size_t(id)] > 0.0F) {
            last = id;
            below += weights[std::size_t(id)];
            if (below > target) {
                break;
            }
        }
    }
    return last;
}

/// Weights of a row, kept from call to call: new ones would cost a page fault for every page, more than the walk itself.
std::vector<float>& kept_weights(std::vector<float>& kept, int vocabulary) {
    kept.resize(static_cast<std::size_t>(vocabulary));
    return kept;
}
thread_local std::vector<float> kept_p, kept_q;

/// Rejection sampling of one sequence after another, by one thread.
class Sampler {
public:
    explicit Sampler(const RejectionVerification& verification)
        : verification_(verification),
          p_(kept_weights(kept_p, verification.vocabulary)),
          q_(kept_weights(kept_q, verification.vocabulary)) {}

    void run(std::int64_t sequence) {
        const int tokens = verification_.tree.tokens;
        walk(sequence, verification_.deepest_level, verification_.accepted,
             [&](int parent) { return standing_child(sequence, parent); });
        const float uniform = verification_.uniform[sequence * (tokens + 1) + tokens];
        verification_.accepted.next_id[sequence] = draw(p_, p_total_, uniform);
    }

private:
    int standing_child(std::int64_t sequence, int parent) {
        const TreeView& tree = verification_.tree;
        const std::int64_t row = sequence * tree.tokens + parent;
        p_total_ = weights_of(verification_.target_logits, row, verification_.temperature, p_);
        double q_total = 0.0;
        for (int child = parent + 1; child < tree.tokens; ++child) {
            if (tree.parent[child] != parent) {
                continue;
            }
            if (q_total == 0.0) {
                q_total = weights_of(verification_.draft_logits, row, verification_.temperature, q_);
            }
            const auto id = static_cast<std::size_t>(verification_.draft_ids[sequence * tree.tokens + child]);
            const float uniform = verification_.uniform[sequence * (tree.tokens + 1) + child];
            if (uniform * (q_[id] / q_total) < p_[id] / p_total_) {
                return child;
            }
            take_residual(p_, p_total_, q_, q_total);
        }
        return -1;
    }

    const RejectionVerification& verification_;
    std::vector<float>&p_, &q_;
    double p_total_ = 0.0;
};

}  // namespace

void top_choices(const TopChoices& choices, Queue /*queue*/) {
    check(choices);
#pragma omp parallel
    {
        const Buffer buffer(block);
        std::vector<float> kept;
#pragma omp for schedule(static)
        for (int row = 0; row < choices.rows; ++row) {
            int* ids = choices.ids + std::int64_t{row} * choices.choices;
            if (choices.choices == 1) {
                *ids = argmax(choices.logits, row, choices.vocabulary, buffer.data());
            } else {
                top_ids(choices.logits, row, choices.vocabulary, {ids, std::size_t(choices.choices)}, buffer.data(), kept);
            }
        }
    }
}

void greedy_verification(const GreedyVerification& verification, Queue /*queue*/) {
    check(verification);
    const TreeView& tree = verification.tree;
    const std::int64_t rows = std::int64_t{verification.sequences} * tree.tokens;
#pragma omp parallel
    {
        const Buffer buffer(block);
#pragma omp for schedule(static)
        for (std::int64_t row = 0; row < rows; ++row) {
            verification.argmax[row] = argmax(verification.logits, row, verification.vocabulary, buffer.data());
        }
    }
    for (std::int64_t sequence = 0; sequence < verification.sequences; ++sequence) {
        const int* ids = verification.draft_ids + sequence * tree.tokens;
        const int* best = verification.argmax + sequence * tree.tokens;
        const int last = walk(sequence, verification.deepest_level, verification.accepted, [&](int parent) {
            for (int child = parent + 1; child < tree.tokens; ++child) {
                if (tree.parent[child] == parent && ids[child] == best[parent]) {
                    return child;
                }
            }
            return -1;
        });
        verification.accepted.next_id[sequence] = best[last];
    }
}

void rejection_verification(const RejectionVerification& verification, Queue /*queue*/) {
    check(verification);
#pragma omp parallel
    {
        Sampler sampler(verification);
#pragma omp for schedule(dynamic)
        for (int sequence = 0; sequence < verification.sequences; ++sequence) {
            sampler.run(sequence);
        }
    }
}

}  // namespace treeline::kernels::cpu
