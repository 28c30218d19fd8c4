// Elements of any type as doubles.
#pragma once

#include <cmath>

#include "kernels/element.h"

namespace treeline::kernels::reference {

inline double load(const void* data, ElementType type, std::int64_t at) {
    switch (type) {
        case ElementType::fp32:
            return static_cast<const float*>(data)[at];
        case ElementType::bf16:
            return to_float(static_cast<const Bf16*>(data)[at]);
        case ElementType::fp8:
            return to_float(static_cast<const Fp8*>(data)[at]);
        case ElementType::int8:
            return static_cast<const std::int8_t*>(data)[at];
        case ElementType::int32:
            return static_cast<const std::int32_t*>(data)[at];
        case ElementType::fp64:
            break;
    }
    return static_cast<const double*>(data)[at];
}

inline void store(void* data, ElementType type, std::int64_t at, double value) {
    switch (type) {
        case ElementType::fp32:
            static_cast<float*>(data)[at] = static_cast<float>(value);
            return;
        case ElementType::bf16:
            static_cast<Bf16*>(data)[at] = to_bf16(static_cast<float>(value));
            return;
        case ElementType::fp8:
            static_cast<Fp8*>(data)[at] = to_fp8(static_cast<float>(value));
            return;
        case ElementType::int8:
            static_cast<std::int8_t*>(data)[at] = static_cast<std::int8_t>(std::lround(value));
            return;
        case ElementType::int32:
            static_cast<std::int32_t*>(data)[at] = static_cast<std::int32_t>(std::lround(value));
            return;
        case ElementType::fp64:
            static_cast<double*>(data)[at] = value;
            return;
    }
}

inline double load(ConstRows rows, std::int64_t row, std::int64_t column) {
    return load(rows.data, rows.type, row * rows.stride + column);
}

inline void store(Rows rows, std::int64_t row, std::int64_t column, double value) {
    store(rows.data, rows.type, row * rows.stride + column, value);
}

}  // namespace treeline::kernels::reference
