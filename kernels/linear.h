// y = x W^T: every projection of a model.
#pragma once

#include "kernels/element.h"

namespace treeline::kernels {

struct Linear {
    int rows = 1;
    int inputs = 1;
    int outputs = 1;
    ConstRows x;       ///< inputs wide
    ConstRows weight;  ///< a row for each output, inputs wide, of the type of x
    Rows y;            ///< outputs wide; fp32, or of the type of x
};

/// As check(const Scan&).
void check(const Linear& linear);

}  // namespace treeline::kernels
