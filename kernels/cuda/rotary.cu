// Rotary position embedding (kernels/rotary.h).
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.cuh"

namespace treeline::kernels::cuda {
namespace {

constexpr int threads = 128;

/// blockIdx = row; a thread turns one pair of elements after another.
template <class Element>
__global__ void __launch_bounds__(threads)
    rotary_kernel(int heads, int head_dim, Matrix<Element> x, const int* position, const float* table) {
    const std::int64_t row = blockIdx.x;
    const int half = head_dim / 2;
    const float* cosine = table + static_cast<std::int64_t>(position[row]) * head_dim;
    for (int pair = static_cast<int>(threadIdx.x); pair < heads * half; pair += threads) {
        const int i = pair % half, low = pair / half * head_dim + i, high = low + half;
        const float a = get(x.row(row), low), b = get(x.row(row), high);
        put(x.row(row), low, cosine[i] * a - cosine[half + i] * b);
        put(x.row(row), high, cosine[half + i] * a + cosine[i] * b);
    }
}

}  // namespace

void rotary(const Rotary& rotary, Queue queue) {
    check(rotary);
    with_type(rotary.x.type, [&](auto element) {
        using Element = decltype(element);
        launch("rotary embedding", rotary_kernel<Element>, {dim3(static_cast<unsigned>(rotary.rows)), threads}, queue,
               rotary.heads, rotary.head_dim, typed<Element>(rotary.x), rotary.position, rotary.table);
    });
}

}  // namespace treeline::kernels::cuda
