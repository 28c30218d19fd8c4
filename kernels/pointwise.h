// Norms and the activation of gated feed-forward layers: kernels of a few operations an element.
#pragma once

#include "kernels/element.h"

namespace treeline::kernels {

/// x = x + bias.
struct AddBias {
    int rows = 1;
    int width = 1;
    Rows x;                       ///< changed in place
    const float* bias = nullptr;  ///< [width]
};

/// out = weight * u / sqrt(mean(u^2) + epsilon) with u = x, or u = x + residual if there is one, which then becomes u. With
/// a bias it is LayerNorm: u less its mean takes the place of u in the fraction, and the bias is added. The output may be x.
struct RmsNorm {
    int rows = 1;
    int width = 1;
    ConstRows x;
    Rows residual;                  ///< none: the norm alone; else changed in place
    const float* weight = nullptr;  ///< [width]
    float epsilon = 1e-5F;
    Rows output;
    const float* bias = nullptr;  ///< [width]; null: RMSNorm
};

/// The norm after the scan of Mamba-2: out = weight * u / sqrt(mean(u^2) + epsilon) with u = x silu(gate), the mean over each
/// of `groups` equal parts of a row. Without a gate u = x: the norm of the heads of queries and keys. The output may be x.
struct GatedRmsNorm {
    int rows = 1;
    int width = 1;
    int groups = 1;
    ConstRows x;
    ConstRows gate;                 ///< none: no gate
    const float* weight = nullptr;  ///< [width]
    float epsilon = 1e-5F;
    Rows output;
    bool gate_after = false;  ///< the gate multiplies the norm instead of its input (the gated delta rule)
};

enum class GateFunction : std::uint8_t { silu, sigmoid };

/// out = function(gate) * up. The output may be either.
struct GatedActivation {
    int rows = 1;
    int width = 1;
    ConstRows gate;
    ConstRows up;
    Rows output;
    GateFunction function = GateFunction::silu;
};

/// As check(const Scan&).
void check(const AddBias& sum);
void check(const RmsNorm& norm);
void check(const GatedRmsNorm& norm);
void check(const GatedActivation& activation);

}  // namespace treeline::kernels
