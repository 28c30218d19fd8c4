#include "decoder/random_fill.h"

#include <algorithm>
#include <cmath>

#include "numerics/random.h"

namespace treeline::decoder {
namespace {

/// Rows are made on the host and moved in pieces of about this size.
constexpr std::int64_t piece_elements = 1 << 22;

}  // namespace

float random_value(std::uint64_t seed, std::uint64_t i) {
    return static_cast<float>(numerics::mixed(seed + 0x9e3779b97f4a7c15u * i) >> 40) * 0x1p-23F - 1.0F;
}

void fill_rows(Memory& memory, kernels::Rows rows, std::int64_t first, std::int64_t count, std::int64_t width,
               std::uint64_t seed, double deviation) {
    const auto scale = static_cast<float>(std::sqrt(3.0) * deviation);  // the deviation of [-1, 1) is 1 / sqrt(3)
    const std::size_t bytes = kernels::bytes_of(rows.type);
    const std::int64_t rows_of_piece = std::max<std::int64_t>(1, piece_elements / rows.stride);
    std::vector<std::byte> piece(static_cast<std::size_t>(std::min(rows_of_piece, count) * rows.stride) * bytes);
    for (std::int64_t begin = 0; begin < count; begin += rows_of_piece) {
        const std::int64_t here = std::min(rows_of_piece, count - begin);
#pragma omp parallel for schedule(static)
        for (std::int64_t row = 0; row < here; ++row) {
            for (std::int64_t column = 0; column < width; ++column) {
                const auto number = static_cast<std::uint64_t>((begin + row) * width + column);
                const float value = scale * random_value(seed, number);
                const auto at = static_cast<std::size_t>(row * rows.stride + column);
                if (rows.type == kernels::ElementType::bf16) {
                    reinterpret_cast<kernels::Bf16*>(piece.data())[at] = kernels::to_bf16(value);
                } else {
                    reinterpret_cast<float*>(piece.data())[at] = value;
                }
            }
        }
        auto* to = static_cast<std::byte*>(rows.data) + static_cast<std::size_t>((first + begin) * rows.stride) * bytes;
        memory.backend().upload(to, piece.data(), static_cast<std::size_t>(here * rows.stride) * bytes, memory.queue());
        memory.backend().wait(memory.queue());  // the piece is written again
    }
}

float* random_floats(Memory& memory, std::int64_t count, std::uint64_t seed, double center, double spread) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(center + spread * static_cast<double>(random_value(seed, i)));
    }
    auto* floats = memory.array<float>(values.size());
    memory.backend().upload(floats, values.data(), values.size() * sizeof(float), memory.queue());
    memory.backend().wait(memory.queue());
    return floats;
}

}  // namespace treeline::decoder
