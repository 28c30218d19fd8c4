// Times kernels: by the host's clock on a CPU, by replayed graphs and the device's clock on a GPU.
#pragma once

#include <memory>

#include "calibrate/measure/kernel_case.h"
#include "kernels/cuda_queue.h"
#include "sim/enum_names.h"

namespace treeline::calibrate {

/// Why the caches do not hold the weights, caches and states of a run when it is timed.
enum class Eviction {
    none,      ///< it has none: its activations are in the cache, where the kernel before would have left them
    rotation,  ///< since they were last used, so much other memory was that nothing of them is left
    flush,     ///< memory of several times the last-level cache is read before each timed run
};
constexpr auto names_in(Eviction) {
    using enum Eviction;
    return enum_names<Eviction>({{none, "none"}, {rotation, "rotation"}, {flush, "flush"}});
}

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

    /// Bytes of weights, caches and states that a run takes from rotating memory.
    [[nodiscard]] std::size_t operand_bytes() const { return operand_bytes_; }
    [[nodiscard]] Eviction eviction() const { return eviction_; }

protected:
    std::size_t operand_bytes_ = 0;
    Eviction eviction_ = Eviction::none;
};

/// Where kernels run.
struct MeasuredDevice {
    const kernels::Backend* backend = nullptr;
    bool on_gpu = false;
    std::string pci_bus_id;       ///< of a GPU, to query its sensors
    std::size_t cache_bytes = 0;  ///< of a GPU: its last-level cache
};

/// Reads memory that nothing else uses, until the last-level cache holds nothing but that.
class CacheFlush {
public:
    explicit CacheFlush(const MeasuredDevice& device);
    /// Puts it into the queue.
    void put(kernels::Queue queue) const;
    /// Memory that a case must use for nothing else to be left in the cache.
    [[nodiscard]] std::size_t evicting_bytes() const { return evicting_bytes_; }

private:
    const kernels::Backend& backend_;
    std::size_t evicting_bytes_;
    DeviceBlock block_, sum_;
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
    std::unique_ptr<CacheFlush> flush_;          ///< likewise
};

}  // namespace treeline::calibrate
