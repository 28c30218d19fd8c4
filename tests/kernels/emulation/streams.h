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

/// Remembers why a call fails (cudaGetErrorString shows it) and returns the error.
cudaError_t refuse(cudaError_t error, const std::string& detail);

}  // namespace emulation
