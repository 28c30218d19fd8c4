// A value read from a description, with where each of its numbers comes from.
#pragma once

#include <vector>

#include "json/reader.h"

namespace treeline {

template <class T>
struct Described {
    T value;
    std::vector<Provenance> provenance;
};

}  // namespace treeline
