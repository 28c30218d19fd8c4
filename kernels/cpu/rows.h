// Pieces of rows as floats, whatever their type in memory.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>

#include "kernels/cpu/vector_loops.h"

namespace treeline::kernels::cpu {

/// Uninitialised floats of one thread, aligned to cache lines: else every other vector would lie in two of them.
class Buffer {
public:
    explicit Buffer(std::size_t count) : memory_(std::make_unique_for_overwrite<float[]>(count + line / sizeof(float))) {
        void* begin = memory_.get();
        std::size_t space = (count + line / sizeof(float)) * sizeof(float);
        values_ = static_cast<float*>(std::align(line, count * sizeof(float), begin, space));
    }
    float* operator+(std::int64_t offset) const { return values_ + offset; }
    float& operator[](std::size_t i) const { return values_[i]; }
    [[nodiscard]] float* data() const { return values_; }

private:
    static constexpr std::size_t line = 64;
    std::unique_ptr<float[]> memory_;
    float* values_;
};

inline void load(const void* data, ElementType type, std::int64_t first, std::int64_t count, float* to) {
    if (type == ElementType::bf16) {
        widen(static_cast<const Bf16*>(data) + first, to, count);
    } else {
        std::memcpy(to, static_cast<const float*>(data) + first, static_cast<std::size_t>(count) * sizeof(float));
    }
}

inline void store(void* data, ElementType type, std::int64_t first, std::int64_t count, const float* from) {
    if (type == ElementType::bf16) {
        narrow(from, static_cast<Bf16*>(data) + first, count);
    } else {
        std::memcpy(static_cast<float*>(data) + first, from, static_cast<std::size_t>(count) * sizeof(float));
    }
}

inline void load(ConstRows rows, std::int64_t row, std::int64_t column, std::int64_t count, float* to) {
    load(rows.data, rows.type, row * rows.stride + column, count, to);
}

inline void store(Rows rows, std::int64_t row, std::int64_t column, std::int64_t count, const float* from) {
    store(rows.data, rows.type, row * rows.stride + column, count, from);
}

/// The elements as floats: themselves where they are, else a copy in `buffer`.
inline const float* view(ConstRows rows, std::int64_t row, std::int64_t column, std::int64_t count, float* buffer) {
    if (rows.type == ElementType::fp32) {
        return static_cast<const float*>(rows.data) + row * rows.stride + column;
    }
    load(rows, row, column, count, buffer);
    return buffer;
}

}  // namespace treeline::kernels::cpu
