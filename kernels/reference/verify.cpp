#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/reference/element_access.h"
#include "kernels/reference/kernels.h"

namespace treeline::kernels::reference {
namespace {

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

std::vector<double> distribution(ConstRows logits, std::int64_t row, int vocabulary, double temperature) {
    std::vector<double> p(static_cast<std::size_t>(vocabulary));
    double largest = load(logits, row, 0);
    for (int id = 0; id < vocabulary; ++id) {
        largest = std::max(largest, load(logits, row, id));
    }
    double total = 0.0;
    for (int id = 0; id < vocabulary; ++id) {
        p[std::size_t(id)] = std::exp((load(logits, row, id) - largest) / temperature);
        total += p[std::size_t(id)];
    }
    for (double& value : p) {
        value /= total;
    }
    return p;
}

/// p becomes the normalised max(p - q, 0), or stays where rounding leaves nothing.
void take_residual(std::vector<double>& p, const std::vector<double>& q) {
    double total = 0.0;
    for (std::size_t id = 0; id < p.size(); ++id) {
        total += std::max(p[id] - q[id], 0.0);
    }
    for (std::size_t id = 0; total > 0.0 && id < p.size(); ++id) {
        p[id] = std::max(p[id] - q[id], 0.0) / total;
    }
}

}  // namespace

void top_choices(const TopChoices& choices, Queue /*queue*/) {
    check(choices);
    for (std::int64_t row = 0; row < choices.rows; ++row) {
        std::vector<int> ids(static_cast<std::size_t>(choices.vocabulary));
        std::iota(ids.begin(), ids.end(), 0);
        std::stable_sort(ids.begin(), ids.end(),
                         [&](int a, int b) { return load(choices.logits, row, a) > load(choices.logits, row, b); });
        std::copy_n(ids.begin(), choices.choices, choices.ids + row * choices.choices);
    }
}

void greedy_verification(const GreedyVerification& verification, Queue /*queue*/) {
    check(verification);
    const TreeView& tree = verification.tree;
    for (std::int64_t sequence = 0; sequence < verification.sequences; ++sequence) {
        int* argmax = verification.argmax + sequence * tree.tokens;
        for (int token = 0; token < tree.tokens; ++token) {
            argmax[token] = 0;
            for (int id = 1; id < verification.vocabulary; ++id) {
                const std::int64_t row = sequence * tree.tokens + token;
                if (load(verification.logits, row, id) > load(verification.logits, row, argmax[token])) {
                    argmax[token] = id;
                }
            }
        }
        const int* ids = verification.draft_ids + sequence * tree.tokens;
        const int last = walk(sequence, verification.deepest_level, verification.accepted, [&](int parent) {
            for (int child = parent + 1; child < tree.tokens; ++child) {
                if (tree.parent[child] == parent && ids[child] == argmax[parent]) {
                    return child;
                }
            }
            return -1;
        });
        verification.accepted.next_id[sequence] = argmax[last];
    }
}

void rejection_verification(const RejectionVerification& verification, Queue /*queue*/) {
    check(verification);
    const TreeView& tree = verification.tree;
    const int vocabulary = verification.vocabulary;
    for (std::int64_t sequence = 0; sequence < verification.sequences; ++sequence) {
        const int* ids = verification.draft_ids + sequence * tree.tokens;
        const float* uniform = verification.uniform + sequence * (tree.tokens + 1);
        std::vector<double> p;
        walk(sequence, verification.deepest_level, verification.accepted, [&](int parent) {
            const std::int64_t row = sequence * tree.tokens + parent;
            p = distribution(verification.target_logits, row, vocabulary, verification.temperature);
            std::vector<double> q;
            for (int child = parent + 1; child < tree.tokens; ++child) {
                if (tree.parent[child] != parent) {
                    continue;
                }
                if (q.empty()) {
                    q = distribution(verification.draft_logits, row, vocabulary, verification.temperature);
                }
                if (uniform[child] * q[std::size_t(ids[child])] < p[std::size_t(ids[child])]) {
                    return child;
                }
                take_residual(p, q);
            }
            return -1;
        });
        double below = 0.0;
        int next = 0;
        for (int id = 0; id < vocabulary; ++id) {
            if (p[std::size_t(id)] > 0.0) {
                next = id;
                below += p[std::size_t(id)];
                if (below > uniform[tree.tokens]) {
                    break;
                }
            }
        }
        verification.accepted.next_id[sequence] = next;
    }
}

}  // namespace treeline::kernels::reference
