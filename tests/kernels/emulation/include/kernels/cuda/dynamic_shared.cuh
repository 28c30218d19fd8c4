// In place of the kernels' own header: extern arrays have no counterpart on the host.
#pragma once

#include "device_functions.h"

namespace treeline::kernels::cuda {

template <class Item>
Item* dynamic_shared() {
    return static_cast<Item*>(emulation::dynamic_shared_memory());
}

}  // namespace treeline::kernels::cuda
