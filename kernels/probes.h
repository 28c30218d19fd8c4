// What the memory and an empty launch cost: the yardsticks for every other kernel.
#pragma once

#include <cstddef>

namespace treeline::kernels {

/// Reads `bytes` (a multiple of 16) once and leaves their sum as 32-bit words, so that no read can be left out.
struct ReadProbe {
    const void* from = nullptr;
    std::size_t bytes = 0;
    unsigned* sum = nullptr;  ///< the sum modulo 2^32
};

/// Fills `bytes` (a multiple of 16) with a 32-bit word.
struct WriteProbe {
    void* to = nullptr;
    std::size_t bytes = 0;
    unsigned word = 0;
};

/// Copies `bytes` (a multiple of 16), which do not overlap.
struct CopyProbe {
    void* to = nullptr;
    const void* from = nullptr;
    std::size_t bytes = 0;
};

/// As check(const Scan&).
void check(const ReadProbe& probe);
void check(const WriteProbe& probe);
void check(const CopyProbe& probe);

}  // namespace treeline::kernels
