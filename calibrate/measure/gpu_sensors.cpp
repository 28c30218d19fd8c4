#include "calibrate/measure/gpu_sensors.h"

#include <dlfcn.h>

namespace treeline::calibrate {
namespace {

// Names and numbers as NVIDIA's NVML reference gives them: 0 is success, clock 1 the multiprocessors', sensor 0 the GPU's own.
using Handle = void*;
constexpr int success = 0;
constexpr int multiprocessor_clock = 1;
constexpr int gpu_sensor = 0;
// Reasons for a lower clock: the power cap of the driver, and slowdowns by the board, by heat (two kinds) and by the power
// supply. Idleness, and clocks that somebody set, are none of these.
constexpr unsigned long long throttling = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;

struct Close {
    void operator()(void* library) const { ::dlclose(library); }
};

}  // namespace

/// The functions, each null where the library has none of that name.
struct GpuMonitor::Library {
    std::unique_ptr<void, Close> loaded;
    Handle gpu = nullptr;
    int (*stop)() = nullptr;
    int (*clock)(Handle, int, unsigned*) = nullptr;
    int (*most_clock)(Handle, int, unsigned*) = nullptr;
    int (*temperature)(Handle, int, unsigned*) = nullptr;
    int (*power)(Handle, unsigned*) = nullptr;
    int (*power_limit)(Handle, unsigned*) = nullptr;
    int (*power_limits)(Handle, unsigned*, unsigned*) = nullptr;
    int (*reasons)(Handle, unsigned long long*) = nullptr;
    int (*lock_clocks)(Handle, unsigned, unsigned) = nullptr;
    int (*reset_clocks)(Handle) = nullptr;

    template <class Function>
    void find(const char* name, Function& function) const {
        if (function == nullptr) {
            function = reinterpret_cast<Function>(::dlsym(loaded.get(), name));
        }
    }

    void find_all() {
        find("nvmlShutdown", stop);
        find("nvmlDeviceGetClockInfo", clock);
        find("nvmlDeviceGetMaxClockInfo", most_clock);
        find("nvmlDeviceGetTemperature", temperature);
        find("nvmlDeviceGetPowerUsage", power);
        find("nvmlDeviceGetEnforcedPowerLimit", power_limit);
        find("nvmlDeviceGetPowerManagementLimitConstraints", power_limits);
        find("nvmlDeviceGetCurrentClocksEventReasons", reasons);
        find("nvmlDeviceGetCurrentClocksThrottleReasons", reasons);  // its name before driver 535
        find("nvmlDeviceSetGpuLockedClocks", lock_clocks);
        find("nvmlDeviceResetGpuLockedClocks", reset_clocks);
    }
};

GpuMonitor::GpuMonitor(const std::string& pci_bus_id, const char* library) {
    auto made = std::make_unique<Library>();
    made->loaded.reset(::dlopen(library, RTLD_NOW | RTLD_LOCAL));
    if (!made->loaded) {
        return;
    }
    int (*start)() = nullptr;
    int (*find_gpu)(const char*, Handle*) = nullptr;
    made->find("nvmlInit_v2", start);
    made->find("nvmlDeviceGetHandleByPciBusId_v2", find_gpu);
    made->find_all();
    if (start == nullptr || made->stop == nullptr || find_gpu == nullptr || start() != success) {
        return;
    }
    if (find_gpu(pci_bus_id.c_str(), &made->gpu) != success) {
        static_cast<void>(made->stop());
        return;
    }
    library_ = std::move(made);
}

GpuMonitor::~GpuMonitor() {
    if (!library_) {
        return;
    }
    if (is_locked_ && library_->reset_clocks != nullptr) {
        static_cast<void>(library_->reset_clocks(library_->gpu));
    }
    static_cast<void>(library_->stop());
}

GpuSensors GpuMonitor::read() const {
    GpuSensors sensors;
    if (!library_) {
        return sensors;
    }
    const Library& nvml = *library_;
    unsigned value = 0;
    unsigned long long reasons = 0;
    if (nvml.clock != nullptr && nvml.clock(nvml.gpu, multiprocessor_clock, &value) == success) {
        sensors.clock = 1e6 * value;
    }
    if (nvml.temperature != nullptr && nvml.temperature(nvml.gpu, gpu_sensor, &value) == success) {
        sensors.temperature = value;
    }
    if (nvml.power != nullptr && nvml.power(nvml.gpu, &value) == success) {
        sensors.power = 1e-3 * value;
    }
    sensors.throttles = nvml.reasons != nullptr && nvml.reasons(nvml.gpu, &reasons) == success && (reasons & throttling) != 0;
    return sensors;
}

GpuLimits GpuMonitor::limits() const {
    GpuLimits limits;
    if (!library_) {
        return limits;
    }
    const Library& nvml = *library_;
    unsigned value = 0, least = 0;
    if (nvml.power_limit != nullptr && nvml.power_limit(nvml.gpu, &value) == success) {
        limits.power = 1e-3 * value;
    }
    if (nvml.power_limits != nullptr && nvml.power_limits(nvml.gpu, &least, &value) == success) {
        limits.most_power = 1e-3 * value;
    }
    if (nvml.most_clock != nullptr && nvml.most_clock(nvml.gpu, multiprocessor_clock, &value) == success) {
        limits.clock = 1e6 * value;
    }
    return limits;
}

bool GpuMonitor::lock_clock(double hertz) {
    if (library_ && library_->lock_clocks != nullptr && hertz > 0.0) {
        const auto megahertz = static_cast<unsigned>(1e-6 * hertz);
        is_locked_ = library_->lock_clocks(library_->gpu, megahertz, megahertz) == success || is_locked_;
    }
    return is_locked_;
}

}  // namespace treeline::calibrate
