// Words for the check() functions.
#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string>

#include "kernels/element.h"

namespace treeline::kernels {

inline void require(bool holds, const char* kernel, const char* sentence) {
    if (!holds) {
        throw std::invalid_argument(std::string(kernel) + ": " + sentence);
    }
}

/// Rows that are there can hold `width` elements. fp64 is for results of the reference.
inline void require_rows(ConstRows rows, std::int64_t width, const char* kernel, const char* name) {
    if (!rows) {
        throw std::invalid_argument(std::string(kernel) + ": " + name + " is missing");
    }
    if (rows.stride < width) {
        throw std::invalid_argument(std::string(kernel) + ": rows of " + name + " are " + std::to_string(width) +
                                    " elements wide, but only " + std::to_string(rows.stride) + " apart");
    }
}

/// Those of the rows that are there have the type of the first (fp64 results of the reference apart).
inline void require_same_type(std::initializer_list<ConstRows> rows, const char* kernel) {
    const ElementType type = rows.begin()->type;
    for (const ConstRows& other : rows) {
        require(!other || other.type == type || other.type == ElementType::fp64, kernel,
                "the element types of its rows differ");
    }
}

}  // namespace treeline::kernels
