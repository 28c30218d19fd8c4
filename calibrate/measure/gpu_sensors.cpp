// Clock and temperature of a GPU, from the management library that comes with its driver.
#include <dlfcn.h>

#include <memory>

#include "calibrate/measure/conditions.h"

namespace treeline::calibrate {
namespace {

// Names and numbers as NVIDIA's NVML reference gives them: 0 is success, clock 1 the multiprocessors', sensor 0 the GPU's own.
using Handle = void*;
constexpr int success = 0;
constexpr int multiprocessor_clock = 1;
constexpr int gpu_sensor = 0;

struct Close {
    void operator()(void* library) const { ::dlclose(library); }
};

template <class Function>
Function* function(void* library, const char* name) {
    return reinterpret_cast<Function*>(::dlsym(library, name));
}

}  // namespace

GpuSensors gpu_sensors(const std::string& pci_bus_id, const char* library) {
    GpuSensors sensors;
    const std::unique_ptr<void, Close> loaded(::dlopen(library, RTLD_NOW | RTLD_LOCAL));
    if (!loaded) {
        return sensors;
    }
    auto* start = function<int()>(loaded.get(), "nvmlInit_v2");
    auto* stop = function<int()>(loaded.get(), "nvmlShutdown");
    auto* find = function<int(const char*, Handle*)>(loaded.get(), "nvmlDeviceGetHandleByPciBusId_v2");
    auto* clock = function<int(Handle, int, unsigned*)>(loaded.get(), "nvmlDeviceGetClockInfo");
    auto* temperature = function<int(Handle, int, unsigned*)>(loaded.get(), "nvmlDeviceGetTemperature");
    if (start == nullptr || stop == nullptr || find == nullptr || start() != success) {
        return sensors;
    }
    Handle gpu = nullptr;
    if (find(pci_bus_id.c_str(), &gpu) == success) {
        unsigned value = 0;
        if (clock != nullptr && clock(gpu, multiprocessor_clock, &value) == success) {
            sensors.clock = 1e6 * value;
        }
        if (temperature != nullptr && temperature(gpu, gpu_sensor, &value) == success) {
            sensors.temperature = value;
        }
    }
    static_cast<void>(stop());
    return sensors;
}

}  // namespace treeline::calibrate
