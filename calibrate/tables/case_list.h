// What would be measured on a device, without measuring it.
#pragma once

#include <string>
#include <vector>

#include "calibrate/measure/kernel_case.h"
#include "sim/device.h"

namespace treeline::calibrate {

struct ListedCase {
    std::string name;  ///< KernelCase::name()
    Bytes bytes;       ///< that it moves
    Flops flops;
    Bytes working_set;               ///< weights, caches and states: what must come from main memory
    Seconds expected;                ///< by the device's law of the kernel, or by the data sheet's bandwidth and peak
    bool by_law = false;             ///< whether it is by a law
    bool takes_two_devices = false;  ///< that read each other's memory
    std::string
        stands_for;  ///< kernels that engines run in its place: its law is no engine's default; empty: they run this one
};

/// Every case of `treeline calibrate --device cuda` (or cpu) on such a device. Bytes and FLOPs are what laws are fitted to.
std::vector<ListedCase> listed_cases(const sim::Device& device, bool quick);

/// Memory over which weights, caches and states rotate on a device with so much cache and memory.
std::size_t rotation_for(Bytes cache, Bytes memory, bool on_gpu);
/// Of that, what a bandwidth probe reads.
std::size_t probe_bytes_for(std::size_t rotation);

}  // namespace treeline::calibrate
