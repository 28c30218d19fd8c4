// A management library as NVIDIA's driver brings it, with one GPU: what calibrate/measure/gpu_sensors.cpp asks for.
#include <cstring>

namespace {
int started = 0;
int gpu = 0;
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
    *megahertz = 1755;
    return handle == &gpu && type == 1 ? 0 : 2;  // 2: invalid argument
}
int nvmlDeviceGetTemperature(void* handle, int sensor, unsigned* degrees) {
    *degrees = 41;
    return handle == &gpu && sensor == 0 ? 0 : 2;
}
}
