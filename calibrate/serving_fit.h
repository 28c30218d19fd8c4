// A software stack fitted to measured steps of one deployment.
#pragma once

#include <string>
#include <vector>

#include "calibrate/serving_rows.h"
#include "calibrate/stack_fit.h"

namespace treeline::calibrate {

struct ServingFit {
    ServingTable table;
    std::vector<MeasuredStep> steps;  ///< one a row
    StackFit fit;
    std::vector<std::string> remarks;     ///< what of the deployment the files of runs say, as sentences
    std::string target, platform, stack;  ///< in the words of the input: model, devices, the stack to begin with
};

}  // namespace treeline::calibrate
