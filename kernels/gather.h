// Rows moved by index: embeddings looked up, keys and values put into a cache or closed up after acceptance, states copied.
#pragma once

#include <cstdint>

#include "kernels/element.h"

namespace treeline::kernels {

/// to[to_row[i]] = from[from_row[i]] for i in 0 … rows - 1, with a null index meaning i itself; a negative index leaves that
/// row out. All rows are read as if before any is written only when `from` and `to` do not overlap.
struct GatherRows {
    int rows = 1;
    int width = 1;  ///< elements; a row's bytes are a multiple of 4
    ConstRows from;
    const int* from_row = nullptr;
    Rows to;  ///< of the type of `from`
    const int* to_row = nullptr;
};

/// As check(const Scan&).
void check(const GatherRows& gather);

}  // namespace treeline::kernels
