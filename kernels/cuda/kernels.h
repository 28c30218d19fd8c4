// The CUDA kernels.
#pragma once

#include "kernels/backend.h"

namespace treeline::kernels::cuda {

#include "kernels/kernel_list.inc"

}  // namespace treeline::kernels::cuda
