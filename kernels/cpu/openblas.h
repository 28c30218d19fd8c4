// OpenBLAS, loaded when the first matrix product needs it: its threads and buffers take hundreds of megabytes of address space
// at once, and a program that only prices has no use for them.
#pragma once

#include <cblas.h>

namespace treeline::kernels::cpu {

using Sgemm = decltype(&cblas_sgemm);

/// cblas_sgemm. Throws KernelError where the library cannot be loaded.
Sgemm openblas_sgemm();

}  // namespace treeline::kernels::cpu
