// Copies from global to shared memory that go on while the thread does something else.
#pragma once

namespace treeline::kernels::cuda {

/// 16 bytes, both places aligned to them. Until the thread has waited for its copies the place in shared memory is nobody's;
/// other threads see it after a barrier behind that.
__device__ inline void start_copy(void* shared, const void* global) {
    const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
}

/// Until all copies that this thread started are done.
__device__ inline void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

}  // namespace treeline::kernels::cuda
