// The dimensions of a Mamba-2 model that an accelerator sees, derived from its description.
#pragma once

#include <string>

#include "sim/model.h"

namespace treeline::sim::fpga {

struct MambaShape {
    double layers = 0.0;
    double width = 0.0;           ///< d
    double inner = 0.0;           ///< d_i
    double in_projection = 0.0;   ///< outputs: gate, x, B, C, one step size a head
    double shared_columns = 0.0;  ///< of those, B and C: all of the scan needs them first
    double heads = 0.0;
    double state = 0.0;  ///< n
    double groups = 0.0;
    double conv_channels = 0.0;
    double conv_width = 0.0;
    double state_elements = 0.0;  ///< S = h·p·n of one layer
    double vocabulary = 0.0;

    [[nodiscard]] double layer_weights() const { return width * in_projection + inner * width; }
    [[nodiscard]] double body_weights() const { return layers * layer_weights(); }
    [[nodiscard]] double head_weights() const { return width * vocabulary; }
    /// Elements of the whole model's recurrent state, convolution history included.
    [[nodiscard]] double all_state_elements() const { return layers * (state_elements + (conv_width - 1.0) * conv_channels); }
    /// Activations of one token and layer that replay needs: dt and its decay, B, x: h + n + h + h·p with one
    /// group (SpecMamba, arXiv 2509.19873).
    [[nodiscard]] double replay_activations() const { return 2.0 * heads + groups * state + inner; }
};

/// Why the accelerator cannot run this model: a sentence; empty when it can (every layer is the same one Mamba-2 block).
std::string shape_problem(const Model& model);

/// Of a model without shape_problem().
MambaShape shape_of(const Model& model);

}  // namespace treeline::sim::fpga
