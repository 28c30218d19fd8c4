// Times kernels: by the host's clock on a CPU, by replayed graphs and the device's clock on a GPU.
#pragma once

#include <memory>

#include "calibrate/measure/kernel_case.h"
#include "kernels/cuda_queue.h"

namespace treeline::calibrate {

/// Times the runs of one case. Made once per case, so that recording a graph is paid for once.
class KernelTimer {
public:
    KernelTimer() = default;
    KernelTimer(const KernelTimer&) = delete;
    KernelTimer& operator=(const KernelTimer&) = delete;
    virtual ~KernelTimer() = default;

    /// Seconds of one run: the mean over as many runs, one after the other, as the clock's resolution requires. Throws
    /// KernelError if the device fails.
    virtual double seconds() = 0;
};

/// Where kernels run.
struct MeasuredDevice {
    const kernels::Backend* backend = nullptr;
    bool on_gpu = false;
    std::string pci_bus_id;  ///< of a GPU, to query its sensors
};

/// Makes the timers of a device's kernels. On a GPU all record into one queue, since each queue has scratch memory of its own.
class KernelTimers {
public:
    explicit KernelTimers(const MeasuredDevice& device);
    /// Runs the case once (and a second time to see how long it takes) to make it ready. The timer must not outlive this.
    std::unique_ptr<KernelTimer> make(const KernelCase& kernel, Workspace& workspace) const;

private:
    MeasuredDevice device_;
    std::unique_ptr<kernels::CudaQueue> queue_;  ///< none on a CPU
};

}  // namespace treeline::calibrate
