// The shared memory that a launch asks for (LaunchShape::shared_bytes), beside what kernels declare themselves.
#pragma once

namespace treeline::kernels::cuda {

/// Aligned to 16 bytes, contents undefined. One array a block: a second call gives the same memory.
template <class Item>
__device__ Item* dynamic_shared() {
    extern __shared__ float4 dynamic_shared_memory[];
    return reinterpret_cast<Item*>(dynamic_shared_memory);
}

}  // namespace treeline::kernels::cuda
