// A value read from a description, with where each of its numbers comes from.
#pragma once

#include <vector>

#include "json/reader.h"

namespace treeline::json {

template <class T>
struct Described {
    T value;
    std::vector<text::Provenance> provenance;
};

}  // namespace treeline::json
