// The reference kernels.
#pragma once

#include "kernels/backend.h"

namespace treeline::kernels::reference {

#include "kernels/kernel_list.inc"

}  // namespace treeline::kernels::reference
