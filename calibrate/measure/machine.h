// The machine that kernels are measured on, as far as it says.
#pragma once

#include <optional>
#include <string>

#include "kernels/backend.h"

namespace treeline::calibrate {

struct Machine {
    std::string title;   ///< "AMD EPYC 9654 96-Core Processor, 2 cores"
    std::string name;    ///< the same as a catalogue name: "amd-epyc-9654-96-core-processor-2-cores"
    std::string driver;  ///< of a GPU: "CUDA 12.4"; of a CPU the operating system: "Linux 6.1.0"
    int cores = 1;       ///< of the host
    double memory_bytes = 0.0;
    double cache_bytes = 0.0;  ///< last level; 0: the machine does not say
    bool is_gpu = false;
    int multiprocessors = 0;  ///< of a GPU
};

/// This host. Reads /proc and /sys, so it knows little elsewhere than on Linux.
Machine host_machine();
Machine gpu_machine(const kernels::CudaDevice& device);

/// Processes that wanted to run over the last minute, per core of the host: 1 where nothing is idle. Nothing where the system
/// does not say.
std::optional<double> load_per_core();

/// Lower case, runs of anything but letters and digits as one hyphen: "Intel(R) Xeon(R)" becomes "intel-r-xeon-r".
std::string catalogue_name(const std::string& title);

}  // namespace treeline::calibrate
