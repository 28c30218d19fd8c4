// Internal to diagnose(): what plain decoding was measured to take at a load.
#pragma once

#include "sweeps/diagnosis.h"

namespace treeline::sweeps::diagnosis {

/// Plain decoding at a load.
struct PlainStep {
    Seconds time;         ///< measured at this very batch and context; 0 = at none like it
    double factor = 0.0;  ///< measured over predicted, there or interpolated between the loads around it; 0 = nothing measured
    double tpot = 0.0;    ///< seconds, at this very load as clients see it; 0 = not known
};

PlainStep plain_step(const std::vector<DiagnosedPoint>& plain, const runs::RunCell& load);

}  // namespace treeline::sweeps::diagnosis
