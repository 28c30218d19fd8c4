// Random numbers for weights and caches: the same for the same seed on every machine and with any number of threads.
#pragma once

#include <cstdint>

#include "decoder/memory.h"

namespace treeline::decoder {

/// Element i of a tensor is a function of seed and i: uniform in [-1, 1).
float random_value(std::uint64_t seed, std::uint64_t i);

/// Fills `count` rows from `first` on, `width` elements each, with uniform numbers of this standard deviation.
void fill_rows(Memory& memory, kernels::Rows rows, std::int64_t first, std::int64_t count, std::int64_t width,
               std::uint64_t seed, double deviation);

/// New fp32 numbers: center plus or minus spread.
float* random_floats(Memory& memory, std::int64_t count, std::uint64_t seed, double center, double spread);

}  // namespace treeline::decoder
