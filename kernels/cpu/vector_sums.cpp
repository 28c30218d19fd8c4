// The loops that end in one number. This file alone is compiled so that sums may be taken in any order
// (kernels/CMakeLists.txt): else they would be taken one by one.
#include <limits>

#include "kernels/cpu/instruction_sets.h"
#include "kernels/cpu/vector_loops.h"

namespace treeline::kernels::cpu {

TREELINE_VECTORISED void dot_products(Matrix left, int left_rows, Matrix right, int right_rows, int width, float* out,
                                      std::int64_t out_stride) {
    // Blocks of 4 x 2 give eight independent sums for six loads.
    int i = 0;
    for (; i + 4 <= left_rows; i += 4) {
        const float* a0 = left.data + i * left.stride;
        const float* a1 = a0 + left.stride;
        const float* a2 = a1 + left.stride;
        const float* a3 = a2 + left.stride;
        float* to = out + i * out_stride;
        int j = 0;
        for (; j + 2 <= right_rows; j += 2) {
            const float* b0 = right.data + j * right.stride;
            const float* b1 = b0 + right.stride;
            float s00 = 0, s01 = 0, s10 = 0, s11 = 0, s20 = 0, s21 = 0, s30 = 0, s31 = 0;
            for (int k = 0; k < width; ++k) {
                s00 += a0[k] * b0[k];
                s01 += a0[k] * b1[k];
                s10 += a1[k] * b0[k];
                s11 += a1[k] * b1[k];
                s20 += a2[k] * b0[k];
                s21 += a2[k] * b1[k];
                s30 += a3[k] * b0[k];
                s31 += a3[k] * b1[k];
            }
            to[j] = s00, to[j + 1] = s01;
            to[out_stride + j] = s10, to[out_stride + j + 1] = s11;
            to[2 * out_stride + j] = s20, to[2 * out_stride + j + 1] = s21;
            to[3 * out_stride + j] = s30, to[3 * out_stride + j + 1] = s31;
        }
        for (; j < right_rows; ++j) {
            const float* b = right.data + j * right.stride;
            float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
            for (int k = 0; k < width; ++k) {
                s0 += a0[k] * b[k];
                s1 += a1[k] * b[k];
                s2 += a2[k] * b[k];
                s3 += a3[k] * b[k];
            }
            to[j] = s0, to[out_stride + j] = s1, to[2 * out_stride + j] = s2, to[3 * out_stride + j] = s3;
        }
    }
    for (; i < left_rows; ++i) {
        const float* a = left.data + i * left.stride;
        for (int j = 0; j < right_rows; ++j) {
            const float* b = right.data + j * right.stride;
            float sum = 0;
            for (int k = 0; k < width; ++k) {
                sum += a[k] * b[k];
            }
            out[i * out_stride + j] = sum;
        }
    }
}

TREELINE_VECTORISED float largest(const float* values, int count) {
    float result = -std::numeric_limits<float>::infinity();
#pragma omp simd reduction(max : result)
    for (int i = 0; i < count; ++i) {
        result = values[i] > result ? values[i] : result;
    }
    return result;
}

TREELINE_VECTORISED float sum(const float* values, std::int64_t count) {
    float result = 0.0F;
    for (std::int64_t i = 0; i < count; ++i) {
        result += values[i];
    }
    return result;
}

TREELINE_VECTORISED float sum_of_squares(const float* values, std::int64_t count) {
    float sum = 0.0F;
    for (std::int64_t i = 0; i < count; ++i) {
        sum += values[i] * values[i];
    }
    return sum;
}

TREELINE_VECTORISED std::uint32_t sum_of_words(const std::uint32_t* words, std::size_t count) {
    // Two streams at a time: one alone does not keep enough lines of memory on their way.
    const std::size_t half = count / 2;
    std::uint32_t sum = count % 2 != 0 ? words[count - 1] : 0;
    for (std::size_t i = 0; i < half; ++i) {
        sum += words[i] + words[half + i];
    }
    return sum;
}

}  // namespace treeline::kernels::cpu
