// What measurements say about a device as a whole, and the description made from that.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "calibrate/measure/machine.h"
#include "calibrate/tables/measured_rows.h"
#include "sim/device.h"

namespace treeline::calibrate {

/// One row of the launch table.
struct LaunchCost {
    std::string by;  ///< call, stream or graph
    double launches = 1.0;
    Seconds each;  ///< time of one
};

/// Of the fastest linear layer in a format.
struct MeasuredPeak {
    FlopsPerSecond rate;
    std::string shape;  ///< that layer
    double rows = 0.0;  ///< its m
};

/// Of the link to a second device, by all-reduces over both.
struct MeasuredLink {
    Bytes least, most;          ///< that were added; in one step a rank reads as many from the other
    Seconds shortest, longest;  ///< times of these; 0: there were none

    /// At which one device reads from the other, once it has begun; 0: that was not measured.
    [[nodiscard]] BytesPerSecond bandwidth() const {
        return longest > shortest ? (most - least) / (longest - shortest) : BytesPerSecond();
    }
};

/// The yardsticks of a device.
struct MachineFigures {
    BytesPerSecond read, write, copy;  ///< a copy counts its bytes twice
    BytesPerSecond update;             ///< of states changed in place, which count twice as well; 0: none was measured
    std::vector<LaunchCost> launches;
    std::map<sim::NumberFormat, MeasuredPeak> peaks;  ///< of each format that was measured
    MeasuredLink link;

    /// 0: none was measured.
    [[nodiscard]] FlopsPerSecond peak_of(sim::NumberFormat format) const {
        const auto found = peaks.find(format);
        return found == peaks.end() ? FlopsPerSecond() : found->second.rate;
    }
};

/// From the tables `probe`, `launch`, `gemm`, `mamba2_scan` and `all_reduce`; throws InputError if bandwidth or products in
/// fp32 are missing.
MachineFigures figures_of(const std::vector<MeasuredFile>& files);

/// What the launch tables among the files hold, sorted by the way of launching, then by the length of the chain. Throws
/// InputError if a row is faulty.
std::vector<LaunchCost> launch_costs_of(const std::vector<MeasuredFile>& files);

/// A description with measured bandwidth, peaks and, of two devices, link that refers to `calibration_file` next to it
/// (hardware/README.md). Throws InputError where the fastest product has one row: it waited for its weights,
/// and tells no peak.
std::string device_description(const Machine& machine, const MachineFigures& figures, bool on_gpu,
                               const std::string& calibration_file);

}  // namespace treeline::calibrate
