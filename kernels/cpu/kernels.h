// The CPU kernels.
#pragma once

#include "kernels/backend.h"

namespace treeline::kernels::cpu {

#include "kernels/kernel_list.inc"

}  // namespace treeline::kernels::cpu
