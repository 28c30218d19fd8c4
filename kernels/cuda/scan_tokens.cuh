// What scans read of their tokens.
#pragma once

#include "kernels/cuda/elements.cuh"

namespace treeline::kernels::cuda {

template <class Activation>
struct DeviceTokens {
    Matrix<const Activation> x, b, c, dt, gate;
    const float* a;
    const float* dt_bias;
    const float* d;

    explicit DeviceTokens(const ScanTokens& tokens)
        : x(typed<Activation>(tokens.x)),
          b(typed<Activation>(tokens.b)),
          c(typed<Activation>(tokens.c)),
          dt(typed<Activation>(tokens.dt)),
          gate(typed<Activation>(tokens.gate)),
          a(tokens.a),
          dt_bias(tokens.dt_bias),
          d(tokens.d) {}

    /// dt after bias and softplus.
    __device__ float step(std::int64_t row, int head) const {
        const float raw = get(dt.row(row), head) + (dt_bias != nullptr ? dt_bias[head] : 0.0F);
        return raw > 20.0F ? raw : log1pf(expf(raw));
    }

    /// y of one channel from the part that comes from states.
    __device__ float finish(float sum, std::int64_t row, int head, std::int64_t column) const {
        const float value = sum + (d != nullptr ? d[head] * get(x.row(row), column) : 0.0F);
        return gate ? value * silu(get(gate.row(row), column)) : value;
    }
};

}  // namespace treeline::kernels::cuda
