// A management library as NVIDIA's driver brings it, with one GPU: what calibrate/measure/gpu_sensors.cpp asks for.
#include <cstring>

namespace {
int started = 0;
int gpu = 0;
unsigned locked = 0;
}  // namespace

extern "C" {
int nvmlInit_v2() {
    ++started;
    return 0;
}
int nvmlShutdown() {
    --started;
    return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** handle) {
    *handle = &gpu;
    return started == 1 && std::strcmp(bus_id, "0000:3b:00.0") == 0 ? 0 : 6;  // 6: not found
}
int nvmlDeviceGetClockInfo(void* handle, int type, unsigned* megahertz) {
    *megahertz = locked > 0 ? locked : 1755;
    return handle == &gpu && type == 1 ? 0 : 2;  // 2: invalid argument
}
int nvmlDeviceGetMaxClockInfo(void* handle, int type, unsigned* megahertz) {
    *megahertz = 1980;
    return handle == &gpu && type == 1 ? 0 : 2;
}
int nvmlDeviceGetTemperature(void* handle, int sensor, unsigned* degrees) {
    *degrees = 41;
    return handle == &gpu && sensor == 0 ? 0 : 2;
}
int nvmlDeviceGetPowerUsage(void* handle, unsigned* milliwatts) {
    *milliwatts = 412'500;
    return handle == &gpu ? 0 : 2;
}
int nvmlDeviceGetEnforcedPowerLimit(void* handle, unsigned* milliwatts) {
    *milliwatts = 500'000;
    return handle == &gpu ? 0 : 2;
}
int nvmlDeviceGetPowerManagementLimitConstraints(void* handle, unsigned* least, unsigned* most) {
    *least = 200'000;
    *most = 700'000;
    return handle == &gpu ? 0 : 2;
}
/// The old name of nvmlDeviceGetCurrentClocksEventReasons: an older driver has this one alone. A locked clock is no reason to
/// complain (2: set by somebody), the power cap is (4).
int nvmlDeviceGetCurrentClocksThrottleReasons(void* handle, unsigned long long* reasons) {
    *reasons = locked > 0 ? 2 : 4;
    return handle == &gpu ? 0 : 2;
}
int nvmlDeviceSetGpuLockedClocks(void* handle, unsigned least, unsigned most) {
    locked = most;
    return handle == &gpu && least == most ? 0 : 4;  // 4: no permission
}
int nvmlDeviceResetGpuLockedClocks(void* handle) {
    locked = 0;
    return handle == &gpu ? 0 : 2;
}
}
