#include "broken_kernels.h"

#include <memory>
#include <vector>

#include "kernels/cuda/launch.cuh"

namespace treeline::testing {
namespace {

using namespace kernels::cuda;

constexpr unsigned count = 64;

__global__ void sum_kernel(Mistake mistake, const float* numbers, const float* host, float* sum) {
    __shared__ float of_thread[count];
    const unsigned i = threadIdx.x;
    of_thread[i] = mistake == Mistake::of_the_host ? host[i] : numbers[i];
    if (mistake == Mistake::misaligned) {
        of_thread[i] = reinterpret_cast<const float4*>(numbers + 1)->x;
    }
    if (mistake == Mistake::divergent_barrier && i < count / 2) {
        __syncthreads();
    }
    if (mistake == Mistake::two_barriers) {
        if (i < count / 2) {
            __syncthreads();
        } else {
            __syncthreads();
        }
    } else if (mistake != Mistake::missing_barrier && mistake != Mistake::divergent_barrier) {
        __syncthreads();
    }
    float all = 0.0F;
    if (i < 32) {
        all = of_thread[i] + of_thread[i + 32];
        if (mistake == Mistake::divergent_shuffle && i == 5) {
            return;
        }
        for (int distance = 16; distance > 0; distance /= 2) {
            all += __shfl_xor_sync(0xffffffffU, all, distance);
        }
    }
    if (mistake == Mistake::global_race ? i == 0 : i == 0 && blockIdx.x == 0) {
        sum[mistake == Mistake::past_the_end ? 1 : 0] = all;
    }
}

}  // namespace

float sum_with(Mistake mistake) {
    const kernels::Backend& cuda = kernels::cuda_backend();
    const std::vector<float> ones(count, 1.0F);
    const auto allocate = [&](std::size_t bytes) {
        return std::unique_ptr<void, void (*)(void*)>(cuda.allocate(bytes), cuda.release);
    };
    const auto numbers = allocate(count * sizeof(float)), sum = allocate(sizeof(float));
    cuda.upload(numbers.get(), ones.data(), count * sizeof(float), {});
    const float* values = static_cast<const float*>(numbers.get());
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(2);
    config.blockDim = dim3(count);
    config.dynamicSmemBytes = mistake == Mistake::too_much_shared ? 48 * 1024 : 0;
    succeed(cudaLaunchKernelEx(&config, sum_kernel, mistake, values, ones.data(), static_cast<float*>(sum.get())), "sum");
    float result = 0.0F;
    cuda.download(&result, sum.get(), sizeof(float), {});
    return result;
}

}  // namespace treeline::testing
