// The inner loops of the CPU kernels: plain loops on arrays in the cache, written so that the compiler vectorises them.
//
// Each is compiled for several instruction sets and chosen when the program starts (cpu/instruction_sets.h), so a binary runs
// on any machine and uses what that machine has. Such a function is called through a pointer: give it at least a few hundred
// operations.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/element.h"

namespace treeline::kernels::cpu {

void widen(const Bf16* from, float* to, std::int64_t count);
void narrow(const float* from, Bf16* to, std::int64_t count);

/// A matrix in memory: rows `stride` elements apart.
struct Matrix {
    const float* data;
    std::int64_t stride;
};

/// out[i][j] = <left_i, right_j> for i < left_rows, j < right_rows; rows of out are `out_stride` apart.
void dot_products(Matrix left, int left_rows, Matrix right, int right_rows, int width, float* out, std::int64_t out_stride);
/// out[i][:] += sum over j of weight[i][j] * right_j[:].
void add_weighted(Matrix weight, int rows, Matrix right, int right_rows, int width, float* out, std::int64_t out_stride);

/// values = factor * values
void scale(float* values, int count, float factor);
/// out += factor * values
void add_scaled(float* out, const float* values, int count, float factor);
/// values = log(1 + e^values), themselves above 20.
void softplus(float* values, int count);
/// values = silu(values)
void apply_silu(float* values, std::int64_t count);
/// values = values * silu(gate)
void multiply_by_silu(float* values, const float* gate, std::int64_t count);
/// values = exp(values - shift), 0 below e^-87.
void exponentials(float* values, int count, float shift);
float largest(const float* values, int count);
float sum(const float* values, std::int64_t count);
float sum_of_squares(const float* values, std::int64_t count);
/// out = weight * values * factor
void scale_by(const float* values, const float* weight, float factor, float* out, std::int64_t count);
/// out += left * right, element by element
void multiply_add(const float* left, const float* right, float* out, std::int64_t count);
/// values += other
void add(float* values, const float* other, std::int64_t count);
std::uint32_t sum_of_words(const std::uint32_t* words, std::size_t count);

/// Copies past the caches where the processor can: for results larger than them, which would else be read before being
/// written. Both ends are aligned to 16 bytes, bytes a multiple of 16.
void stream_copy(void* to, const void* from, std::size_t bytes);

}  // namespace treeline::kernels::cpu
