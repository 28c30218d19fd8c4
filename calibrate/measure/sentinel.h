// A reading of main memory before and after something is measured tells whether the machine stayed as it was.
#pragma once

#include "calibrate/measure/workspace.h"

namespace treeline {

class Sentinel {
public:
    /// Reads `bytes` of memory of its own, a gigabyte at most; they should exceed the last-level cache by far. Throws
    /// KernelError or std::bad_alloc where the device has no room for it.
    Sentinel(const kernels::Backend& backend, std::size_t bytes);

    /// The median of a few readings.
    double seconds();

private:
    const kernels::Backend& backend_;
    DeviceBlock block_, sum_;
};

}  // namespace treeline
