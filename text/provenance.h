// Where the numbers of an answer come from.
#pragma once

#include <string>

namespace treeline::text {

/// Where a number comes from; reports repeat it.
struct Provenance {
    std::string path;    ///< "hardware/gpu/h100-sxm.json: memory_bandwidth"
    std::string text;    ///< "3.35 TB/s"
    std::string source;  ///< "vendor data sheet"
    std::string kind;    ///< datasheet | measured | published | fitted | assumed | derived
};

}  // namespace treeline::text
