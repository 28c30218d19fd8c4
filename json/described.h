// A description together with where its numbers come from.
#pragma once

#include <vector>

#include "json/reader.h"

namespace treeline {

/// What a file describes, and the provenance of every number that carries its own source (reports repeat it).
template <class T>
struct Described {
    T value;
    std::vector<Provenance> provenance;
};

}  // namespace treeline
