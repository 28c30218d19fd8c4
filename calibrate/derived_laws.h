// Laws of one device's kernels carried over to another that nobody measured.
#pragma once

#include <string>
#include <vector>

#include "sim/device.h"

namespace treeline {

/// What is carried over, by rule:
///   - times (launch, per head, per tile, per token) as they are: they are those of synchronising and of instructions, and
///   clocks
///     hardly differ between data-center devices;
///   - shares of bandwidth, peak and link as shares of the other device's data sheet;
///   - multiprocessors that take whole tiles, and the traffic at which data no longer fit into the last-level cache, as its
///   own.
/// Left out are laws of kernels that no engine would pick: those slower than the same class in a wider format, in bytes and in
/// FLOPs, whose law then stands in. Such kernels belong to one release of one engine, not to the device.
/// `left_out` takes the names of these, if given.
std::vector<CalibratedKernel> derived_laws(const Device& from, const Device& to, std::vector<std::string>* left_out = nullptr);

/// What such laws missed where they can be checked: each of A100, H100 and L40S from each other (validation/kernel_times).
inline constexpr const char* transfer_error =
    "Carried over so between A100, H100 and L40S, laws of linear layers, decode attention, experts and scans missed by 16 % "
    "(median) "
    "and 39 % (90th percentile), between the two that have the same kind of multiprocessor by 8 and 24 %; of prompts by 23 and "
    "78 %, "
    "all-reduces 21 and 47 %, latent attention by more than its time";

}  // namespace treeline
