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
    fp64,  ///< read and written by the reference kernels only
};

constexpr std::size_t bytes_of(ElementType type) { return type == ElementType::bf16 ? 2 : type == ElementType::fp32 ? 4 : 8; }

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
