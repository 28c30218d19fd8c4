#include "kernels/cpu/vector_loops.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

// Sanitizers and the resolver of such a function, which runs before main, do not go together.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define TREELINE_VECTORISED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TREELINE_VECTORISED
#endif

namespace treeline::kernels::cpu {
namespace {

/// e^x to about 1e-7 of its value for -87 <= x <= 88: 2^n times the series on |r| <= ln 2 / 2, whose first term left out is
/// r^8 / 8! < 6e-9. A call of std::exp would keep loops from being vectorised.
[[gnu::always_inline]] inline float exponential(float x) {
    x = std::min(std::max(x, -87.0F), 88.0F);
    const float rounder = 12582912.0F;  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits
    const float shifted = x * 1.44269504F + rounder;
    const float n = shifted - rounder;
    const float r = (x - n * 0.693359375F) + n * 2.12194440e-4F;  // ln 2 in two parts
    float p = 1.0F / 5040.0F;
    p = p * r + 1.0F / 720.0F;
    p = p * r + 1.0F / 120.0F;
    p = p * r + 1.0F / 24.0F;
    p = p * r + 1.0F / 6.0F;
    p = p * r + 0.5F;
    p = p * r + 1.0F;
    p = p * r + 1.0F;
    const auto exponent = static_cast<std::int32_t>(n);
    return p * std::bit_cast<float>((exponent + 127) << 23);
}

[[gnu::always_inline]] inline float silu(float x) { return x / (1.0F + exponential(-x)); }

}  // namespace

TREELINE_VECTORISED void widen(const Bf16* from, float* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        to[i] = std::bit_cast<float>(static_cast<std::uint32_t>(from[i].bits) << 16);
    }
}

TREELINE_VECTORISED void narrow(const float* from, Bf16* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        to[i] = to_bf16(from[i]);
    }
}

TREELINE_VECTORISED void advance_state(float* state, int rows, int size, float decay, const float* input, const float* b) {
    for (int row = 0; row < rows; ++row) {
        float* h = state + std::int64_t{row} * size;
        for (int n = 0; n < size; ++n) {
            h[n] = decay * h[n] + input[row] * b[n];
        }
    }
}

TREELINE_VECTORISED void advance_state(float* state, int rows, int size, float decay, const float* input, const float* b,
                                       const float* c, float* y) {
    for (int row = 0; row < rows; row += 4) {
        float* h0 = state + std::int64_t{row} * size;
        float* h1 = h0 + size;
        float* h2 = h1 + size;
        float* h3 = h2 + size;
        float y0 = 0.0F, y1 = 0.0F, y2 = 0.0F, y3 = 0.0F;
        const float i0 = input[row], i1 = input[row + 1], i2 = input[row + 2], i3 = input[row + 3];
#pragma omp simd reduction(+ : y0, y1, y2, y3)
        for (int n = 0; n < size; ++n) {
            h0[n] = decay * h0[n] + i0 * b[n];
            h1[n] = decay * h1[n] + i1 * b[n];
            h2[n] = decay * h2[n] + i2 * b[n];
            h3[n] = decay * h3[n] + i3 * b[n];
            y0 += h0[n] * c[n];
            y1 += h1[n] * c[n];
            y2 += h2[n] * c[n];
            y3 += h3[n] * c[n];
        }
        y[row] = y0;
        y[row + 1] = y1;
        y[row + 2] = y2;
        y[row + 3] = y3;
    }
}

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
#pragma omp simd reduction(+ : s00, s01, s10, s11, s20, s21, s30, s31)
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
#pragma omp simd reduction(+ : s0, s1, s2, s3)
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
            float even = 0, odd = 0;  // two sums: the additions of one would wait for each other
            const int half = width / 2;
#pragma omp simd reduction(+ : even, odd)
            for (int k = 0; k < half; ++k) {
                even += a[k] * b[k];
                odd += a[half + k] * b[half + k];
            }
            out[i * out_stride + j] = even + odd + (width % 2 != 0 ? a[width - 1] * b[width - 1] : 0.0F);
        }
    }
}

TREELINE_VECTORISED void add_weighted(Matrix weight, int rows, Matrix right, int right_rows, int width, float* out,
                                      std::int64_t out_stride) {
    for (int i = 0; i < rows; ++i) {
        float* to = out + i * out_stride;
        const float* w = weight.data + i * weight.stride;
        int j = 0;
        for (; j + 4 <= right_rows; j += 4) {
            const float* v0 = right.data + j * right.stride;
            const float* v1 = v0 + right.stride;
            const float* v2 = v1 + right.stride;
            const float* v3 = v2 + right.stride;
            const float w0 = w[j], w1 = w[j + 1], w2 = w[j + 2], w3 = w[j + 3];
            for (int k = 0; k < width; ++k) {
                to[k] += (w0 * v0[k] + w1 * v1[k]) + (w2 * v2[k] + w3 * v3[k]);
            }
        }
        for (; j < right_rows; ++j) {
            const float* v = right.data + j * right.stride;
            for (int k = 0; k < width; ++k) {
                to[k] += w[j] * v[k];
            }
        }
    }
}

TREELINE_VECTORISED void scale(float* values, int count, float factor) {
    for (int i = 0; i < count; ++i) {
        values[i] *= factor;
    }
}

TREELINE_VECTORISED void add_scaled(float* out, const float* values, int count, float factor) {
    for (int i = 0; i < count; ++i) {
        out[i] += factor * values[i];
    }
}

TREELINE_VECTORISED void apply_silu(float* values, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        values[i] = silu(values[i]);
    }
}

TREELINE_VECTORISED void multiply_by_silu(float* values, const float* gate, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        values[i] *= silu(gate[i]);
    }
}

TREELINE_VECTORISED float exponentials(float* values, int count, float shift) {
    float sum = 0.0F;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < count; ++i) {
        const float x = values[i] - shift;
        const float e = x < -87.0F ? 0.0F : exponential(x);
        values[i] = e;
        sum += e;
    }
    return sum;
}

TREELINE_VECTORISED float largest(const float* values, int count) {
    float result = -std::numeric_limits<float>::infinity();
#pragma omp simd reduction(max : result)
    for (int i = 0; i < count; ++i) {
        result = values[i] > result ? values[i] : result;
    }
    return result;
}

TREELINE_VECTORISED float sum_of_squares(const float* values, std::int64_t count) {
    float sum = 0.0F;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < count; ++i) {
        sum += values[i] * values[i];
    }
    return sum;
}

TREELINE_VECTORISED void scale_by(const float* values, const float* weight, float factor, float* out, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        out[i] = weight[i] * (values[i] * factor);
    }
}

TREELINE_VECTORISED void multiply_add(const float* left, const float* right, float* out, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        out[i] += left[i] * right[i];
    }
}

TREELINE_VECTORISED void add(float* values, const float* other, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        values[i] += other[i];
    }
}

TREELINE_VECTORISED std::uint32_t sum_of_words(const std::uint32_t* words, std::size_t count) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
        sum += words[i];
    }
    return sum;
}

void stream_copy(void* to, const void* from, std::size_t bytes) {
#if defined(__SSE2__)
    auto* out = static_cast<__m128i*>(to);
    const auto* in = static_cast<const __m128i*>(from);
    for (std::size_t i = 0; i < bytes / 16; ++i) {
        _mm_stream_si128(out + i, _mm_load_si128(in + i));
    }
    _mm_sfence();
#else
    std::memcpy(to, from, bytes);
#endif
}

}  // namespace treeline::kernels::cpu
