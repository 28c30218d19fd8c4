// y = x W^T: every projection of a model. In fp8 and int8 on CUDA devices alone, and without scales: those are a factor of rows
// and columns that whatever comes next applies.
#pragma once

#include "kernels/element.h"

namespace treeline::kernels {

struct Linear {
    int rows = 1;
    int inputs = 1;    ///< of 8-bit types a multiple of 16, and so are
    int outputs = 1;   ///< these
    ConstRows x;       ///< inputs wide
    ConstRows weight;  ///< a row for each output, inputs wide, of the type of x
    Rows y;            ///< outputs wide; fp32 or bf16 for x in bf16 or fp8, fp32 for fp32, int32 for int8
};

/// As check(const Scan&).
void check(const Linear& linear);

}  // namespace treeline::kernels
