// Checks that several numbers are what changes nothing in a product.
#pragma once

#include <catch2/catch.hpp>

#include <initializer_list>

namespace treeline::testing {

inline void check_ones(std::initializer_list<double> values) {
    for (const double value : values) {
        CHECK(value == 1.0);
    }
}

}  // namespace treeline::testing
