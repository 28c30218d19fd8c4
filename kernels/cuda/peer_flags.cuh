// Flags in a device's memory by which threads of two devices wait for each other.
#pragma once

namespace treeline::kernels::cuda {

/// Looks at a flag before a thread gives up: some seconds.
inline constexpr unsigned most_looks = 1U << 23U;

/// Raises a flag of any device. What the thread has read and written before is done for whoever sees it.
__device__ inline void raise_flag(unsigned* flag, unsigned value) {
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

/// Until the flag, which only rises, has come to the value; whether it has.
__device__ inline bool await_flag(const unsigned* flag, unsigned value) {
    for (unsigned looks = 0; looks < most_looks; ++looks) {
        unsigned seen = 0;
        asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        if (static_cast<int>(seen - value) >= 0) {
            return true;
        }
    }
    return false;
}

}  // namespace treeline::kernels::cuda
