// Work of streams, for the libraries that put some there (the emulation's cuBLASLt).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cuda_runtime.h"

namespace emulation {

/// One operation of a stream; what went wrong, or nothing.
using Work = std::function<std::optional<std::string>()>;

/// Puts it into the stream, or into the graph that is being recorded.
cudaError_t put(cudaStream_t stream, Work work);

/// The device that a stream is of.
int device_of(cudaStream_t stream);

/// Runs what stands first in a stream of the device; false where nothing waits there.
bool run_next_work(int device);

/// Remembers why a call fails (cudaGetErrorString shows it) and returns the error.
cudaError_t refuse(cudaError_t error, const std::string& detail);

}  // namespace emulation
