// Units that go over a vector a few elements per cycle and must see all of it before the next unit may start: the norms (two
// passes: sum of squares, then scaling) and the special functions (softplus and exponential of every step size).
#pragma once

#include "kernels/hls/shape.h"

namespace treeline::kernels::accelerator {

/// The loop alone: waits for what `after` names, runs, and tells the next unit.
inline void vector_loop(int iterations, ::hls::stream<Token>* after, ::hls::stream<Token>* also_after,
                        ::hls::stream<Token>& ready) {
    for (int i = 0; i < iterations; ++i) {
#pragma HLS PIPELINE II = 1
        TREELINE_ITERATION;
        if (i == 0 && after != nullptr) {
            after->read();
        }
        if (i == 0 && also_after != nullptr) {
            also_after->read();
        }
        if (i == iterations - 1) {
            ready.write({});
        }
    }
}

}  // namespace treeline::kernels::accelerator
