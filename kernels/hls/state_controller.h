// The state controller's share of hybrid backtracking: no state of a tree is stored. Of the accepted tokens it keeps what
// recomputing takes — x stays in the activation cache, decay, step size and B are moved to the head of the next round's
// coefficients — and the SSM unit recomputes them before the next tree. 1 + 1 + n + p elements per head instead of p · n.
#pragma once

#include "kernels/hls/ssm_unit.h"

namespace treeline::kernels::accelerator {

/// Coefficients of the next round's recomputed tokens, laid out as Coefficients; c is not needed for them.
struct KeptCoefficients {
    Decay* decay = nullptr;
    StepSize* step = nullptr;
    Coefficient* b = nullptr;
};

/// `accepted` are tokens of the tree just verified, the root's side first; `job` and `from` are that round's.
template <class S>
void keep_accepted(const SsmJob& job, const Coefficients& from, const int* accepted, int count, const KeptCoefficients& to) {
    for (int i = 0; i < count; ++i) {
        const int node = job.replayed + accepted[i];
        for (int head = 0; head < from.heads; ++head) {
#pragma HLS PIPELINE II = 1
            to.decay[i * from.heads + head] = from.decay[node * from.heads + head];
            to.step[i * from.heads + head] = from.step[node * from.heads + head];
        }
        for (int state = 0; state < S::states; ++state) {
#pragma HLS PIPELINE II = 1
            to.b[i * S::states + state] = from.b[node * S::states + state];
        }
    }
}

}  // namespace treeline::kernels::accelerator
