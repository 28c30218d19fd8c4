// Norms and the activation of gated feed-forward layers: kernels of a few operations an element.
#pragma once

#include "kernels/element.h"

namespace treeline::kernels {

/// out = weight * u / sqrt(mean(u^2) + epsilon) with u = x, or u = x + residual where there is one, which then becomes u.
struct RmsNorm {
    int rows = 1;
    int width = 1;
    ConstRows x;
    Rows residual;                  ///< none: the norm alone; else changed in place
    const float* weight = nullptr;  ///< [width]
    float epsilon = 1e-5F;
    Rows output;
};

/// The norm after the scan of Mamba-2: out = weight * u / sqrt(mean(u^2) + epsilon) with u = x silu(gate), the mean over each
/// of `groups` equal parts of a row.
struct GatedRmsNorm {
    int rows = 1;
    int width = 1;
    int groups = 1;
    ConstRows x;
    ConstRows gate;
    const float* weight = nullptr;  ///< [width]
    float epsilon = 1e-5F;
    Rows output;
};

/// out = silu(gate) * up.
struct GatedActivation {
    int rows = 1;
    int width = 1;
    ConstRows gate;
    ConstRows up;
    Rows output;
};

/// As check(const Scan&).
void check(const RmsNorm& norm);
void check(const GatedRmsNorm& norm);
void check(const GatedActivation& activation);

}  // namespace treeline::kernels
