// What the management library of NVIDIA's driver says about one GPU while it is measured.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace treeline::calibrate {

/// Readings of a moment; whatever is unknown is zero or nothing.
struct GpuSensors {
    double clock = 0.0;  ///< of the multiprocessors, Hz
    std::optional<double> temperature;
    double power = 0.0;      ///< W
    bool throttles = false;  ///< the clock is held down by power or heat, or by the board's own protection
};

/// What the GPU is allowed.
struct GpuLimits {
    double power = 0.0;       ///< W that the driver enforces now
    double most_power = 0.0;  ///< W that the board could be set to
    double clock = 0.0;       ///< Hz: the highest clock of the multiprocessors
};

/// One session with the library, from construction to destruction. Everything is unknown if the library, the GPU or one of its
/// functions is missing.
class GpuMonitor {
public:
    /// The library is loaded by its file name; the GPU is the one with this PCI bus id.
    explicit GpuMonitor(const std::string& pci_bus_id, const char* library = "libnvidia-ml.so.1");
    GpuMonitor(const GpuMonitor&) = delete;
    GpuMonitor& operator=(const GpuMonitor&) = delete;
    /// Gives a locked clock back.
    ~GpuMonitor();

    [[nodiscard]] GpuSensors read() const;
    [[nodiscard]] GpuLimits limits() const;
    /// Asks for this clock (Hz) until the monitor is gone. Whether it was granted: most systems ask for root's rights.
    bool lock_clock(double hertz);

private:
    struct Library;
    std::unique_ptr<Library> library_;
    bool is_locked_ = false;
};

}  // namespace treeline::calibrate
