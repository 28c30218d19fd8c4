#include "kernel_case.h"

namespace treeline::testing {

const kernels::Backend& backend_under_test() { return kernels::cpu_backend(); }

}  // namespace treeline::testing
