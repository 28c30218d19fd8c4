// What kernels read and write: element types and views of memory. A view owns nothing; its memory belongs to the device of the
// kernels that are called (kernels/backend.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "numerics/bits.h"

namespace treeline::kernels {

enum class ElementType : std::uint8_t {
    fp32,
    bf16,
    fp64,   ///< read and written by the reference kernels only
    fp8,    ///< E4M3; operands of linear layers only, and so is
    int8,   ///< this, whose products
    int32,  ///< are these
};

constexpr std::size_t bytes_of(ElementType type) {
    switch (type) {
        case ElementType::fp8:
        case ElementType::int8:
            return 1;
        case ElementType::bf16:
            return 2;
        case ElementType::fp32:
        case ElementType::int32:
            return 4;
        case ElementType::fp64:
            break;
    }
    return 8;
}

/// The upper half of an IEEE single: 8 bits of exponent, 7 of fraction.
struct Bf16 {
    std::uint16_t bits = 0;
};

constexpr float to_float(Bf16 value) { return numerics::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16); }

/// Rounds to nearest, ties to even; a NaN stays one.
constexpr Bf16 to_bf16(float value) {
    const auto bits = numerics::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    const std::uint32_t quiet = bits >> 16 | 0x40u;
    return {static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded)};
}

/// E4M3: 4 bits of exponent, 3 of fraction, no infinities; all bits but the sign set is a NaN.
struct Fp8 {
    std::uint8_t bits = 0;
};

inline constexpr float largest_fp8 = 448.0F;

constexpr float to_float(Fp8 value) {
    const unsigned exponent = value.bits >> 3U & 15U, fraction = value.bits & 7U;
    const float sign = (value.bits & 0x80U) != 0 ? -1.0F : 1.0F;
    if (exponent == 15 && fraction == 7) {
        return std::numeric_limits<float>::quiet_NaN();
    }
    const float size = exponent == 0
                           ? static_cast<float>(fraction) / 8.0F / 64.0F
                           : (1.0F + static_cast<float>(fraction) / 8.0F) * numerics::bit_cast<float>((exponent + 120U) << 23U);
    return sign * size;
}

/// Rounds to nearest, ties to even; what is larger becomes the largest, and a NaN stays one.
constexpr Fp8 to_fp8(float value) {
    const auto sign = static_cast<std::uint8_t>(numerics::bit_cast<std::uint32_t>(value) >> 24U & 0x80U);
    const std::uint32_t size = numerics::bit_cast<std::uint32_t>(value) & 0x7fffffffU;
    if (size > 0x7f800000U) {
        return {static_cast<std::uint8_t>(sign | 0x7fU)};
    }
    const float magnitude = numerics::bit_cast<float>(size);
    if (magnitude >= largest_fp8) {
        return {static_cast<std::uint8_t>(sign | 0x7eU)};
    }
    if (magnitude < 1.0F / 64.0F) {
        // Multiples of 2^-9: adding 1.5 * 2^14 leaves no finer bits.
        const auto rounded = numerics::bit_cast<std::uint32_t>(magnitude + 24576.0F);
        return {static_cast<std::uint8_t>(sign | (rounded & 0xfU))};
    }
    const std::uint32_t rounded = size + 0x7ffffU + (size >> 20U & 1U);
    return {static_cast<std::uint8_t>(sign | ((rounded >> 20U) - (120U << 3U)))};
}

/// Rows of elements, those of a row next to each other. A row is one token of one sequence (row = sequence * tokens + token)
/// unless said otherwise, so a slice of a wider matrix (x, B and C of one convolution's output) needs no copy.
struct ConstRows {
    const void* data = nullptr;
    ElementType type = ElementType::fp32;
    std::int64_t stride = 0;  ///< elements from the start of a row to that of the next

    explicit operator bool() const { return data != nullptr; }
};

struct Rows {
    void* data = nullptr;
    ElementType type = ElementType::fp32;
    std::int64_t stride = 0;

    explicit operator bool() const { return data != nullptr; }
    operator ConstRows() const { return {data, type, stride}; }
};

}  // namespace treeline::kernels
