#include "broken_kernels.h"

#include <memory>
#include <vector>

#include "kernels/cuda/async_copy.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/warp_product.cuh"

namespace treeline::testing {
namespace {

using namespace kernels::cuda;

constexpr unsigned count = 64;

__global__ void sum_kernel(Mistake mistake, const float* numbers, const float* host, float* sum) {
    alignas(16) __shared__ float of_thread[count];
    const unsigned i = threadIdx.x;
    if (mistake < Mistake::none_with_copies) {
        of_thread[i] = mistake == Mistake::of_the_host ? host[i] : numbers[i];
    } else if (i % 4 == 0) {
        start_copy(of_thread + i, numbers + i);
    }
    if (mistake != Mistake::awaits_no_copies) {
        wait_for_copies();
    }
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
    } else if (mistake != Mistake::missing_barrier && mistake != Mistake::missing_after_copy &&
               mistake != Mistake::divergent_barrier) {
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

/// PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type": element i of a lane's fragment.
__global__ void product_kernel(const kernels::Bf16* a, const kernels::Bf16* b, float* sum) {
    const unsigned group = threadIdx.x / 4, thread = threadIdx.x % 4;
    unsigned of_a[4], of_b[2];
    float of_sum[4];
    for (unsigned i = 0; i < 8; ++i) {
        const unsigned row = i < 2 || (4 <= i && i < 6) ? group : group + 8;
        const unsigned column = thread * 2 + (i & 1U) + (i >= 4 ? 8 : 0);
        of_a[i / 2] = (i % 2 == 0 ? 0 : of_a[i / 2]) | unsigned{a[row * 16 + column].bits} << (i % 2 * 16);
    }
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned row = thread * 2 + (i & 1U) + (i >= 2 ? 8 : 0);
        of_b[i / 2] = (i % 2 == 0 ? 0 : of_b[i / 2]) | unsigned{b[row * 8 + group].bits} << (i % 2 * 16);
    }
    const auto place = [&](unsigned i) { return (i < 2 ? group : group + 8) * 8 + thread * 2 + (i & 1U); };
    for (unsigned i = 0; i < 4; ++i) {
        of_sum[i] = sum[place(i)];
    }
    multiply_add(of_sum, of_a, of_b);
    for (unsigned i = 0; i < 4; ++i) {
        sum[place(i)] = of_sum[i];
    }
}

template <class Item>
class OnDevice {
public:
    explicit OnDevice(const std::vector<Item>& items)
        : memory_(kernels::cuda_backend().allocate(items.size() * sizeof(Item)), kernels::cuda_backend().release) {
        kernels::cuda_backend().upload(memory_.get(), items.data(), items.size() * sizeof(Item), {});
    }
    [[nodiscard]] Item* get() const { return static_cast<Item*>(memory_.get()); }

private:
    std::unique_ptr<void, void (*)(void*)> memory_;
};

}  // namespace

std::vector<float> product_of(const std::vector<kernels::Bf16>& a, const std::vector<kernels::Bf16>& b,
                              const std::vector<float>& sum, unsigned lanes) {
    const OnDevice<kernels::Bf16> of_a(a), of_b(b);
    const OnDevice<float> of_sum(sum);
    launch("product", product_kernel, {dim3(1), lanes}, {}, static_cast<const kernels::Bf16*>(of_a.get()),
           static_cast<const kernels::Bf16*>(of_b.get()), of_sum.get());
    std::vector<float> result(sum.size());
    kernels::cuda_backend().download(result.data(), of_sum.get(), result.size() * sizeof(float), {});
    return result;
}

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
