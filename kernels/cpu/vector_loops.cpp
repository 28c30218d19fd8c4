#include "kernels/cpu/vector_loops.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/cpu/instruction_sets.h"

#if defined(__SSE2__)
#include <emmintrin.h>
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

TREELINE_VECTORISED void softplus(float* values, int count) {
    for (int i = 0; i < count; ++i) {
        // max(x, 0) + log(1 + u), u = e^-|x| <= 1: the logarithm is 2 artanh(s), s = u / (2 + u) <= 1/3, whose first term left
        // out is 2 s^17 / 17 < 1e-9.
        const float x = values[i], u = exponential(x > 0.0F ? -x : x);
        const float s = u / (2.0F + u), square = s * s;
        float p = 1.0F / 15.0F;
        p = p * square + 1.0F / 13.0F;
        p = p * square + 1.0F / 11.0F;
        p = p * square + 1.0F / 9.0F;
        p = p * square + 1.0F / 7.0F;
        p = p * square + 1.0F / 5.0F;
        p = p * square + 1.0F / 3.0F;
        p = p * square + 1.0F;
        values[i] = x > 20.0F ? x : std::max(x, 0.0F) + 2.0F * s * p;
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

TREELINE_VECTORISED void exponentials(float* values, int count, float shift) {
    for (int i = 0; i < count; ++i) {
        const float x = values[i] - shift;
        values[i] = x < -87.0F ? 0.0F : exponential(x);
    }
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
