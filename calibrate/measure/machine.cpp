#include "calibrate/measure/machine.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <sys/utsname.h>
#include <unistd.h>

namespace treeline::calibrate {
namespace {

/// The value after "key :" in a file of such lines; empty where there is none.
std::string value_in(const char* path, const std::string& key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(':');
        if (colon != std::string::npos && line.compare(0, key.size(), key) == 0) {
            const std::size_t first = line.find_first_not_of(" \t", colon + 1);
            return first == std::string::npos ? "" : line.substr(first);
        }
    }
    return {};
}

/// "32768K" of the last cache that the first core has.
double last_level_cache() {
    double bytes = 0.0;
    for (int index = 0; index < 8; ++index) {
        std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
        double size = 0.0;
        char unit = ' ';
        if (file >> size >> unit) {
            bytes = size * (unit == 'M' ? 1048576.0 : unit == 'K' ? 1024.0 : 1.0);
        }
    }
    return bytes;
}

double host_memory() {
    const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? static_cast<double>(pages) * static_cast<double>(page) : 0.0;
}

std::string operating_system() {
    utsname names{};
    return ::uname(&names) == 0 ? std::string(names.sysname) + " " + names.release : "unknown";
}

int host_cores() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

}  // namespace

std::string catalogue_name(const std::string& title) {
    std::string name;
    for (const char c : title) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
            name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        } else if (!name.empty() && name.back() != '-') {
            name += '-';
        }
    }
    while (!name.empty() && name.back() == '-') {
        name.pop_back();
    }
    return name.empty() ? "device" : name;
}

Machine host_machine() {
    Machine machine;
    const std::string model = value_in("/proc/cpuinfo", "model name");
    machine.cores = host_cores();
    machine.title =
        (model.empty() ? "CPU" : model) + ", " + std::to_string(machine.cores) + (machine.cores == 1 ? " core" : " cores");
    machine.name = catalogue_name(machine.title);
    machine.driver = operating_system();
    machine.memory_bytes = host_memory();
    machine.cache_bytes = last_level_cache();
    return machine;
}

Machine gpu_machine(const kernels::CudaDevice& device) {
    Machine machine;
    machine.title = device.name;
    machine.name = catalogue_name(device.name);
    machine.driver = "CUDA " + std::to_string(device.driver_version / 1000) + "." +
                     std::to_string(device.driver_version % 1000 / 10) + ", compute capability " +
                     std::to_string(device.major) + "." + std::to_string(device.minor);
    machine.cores = host_cores();
    machine.memory_bytes = static_cast<double>(device.memory_bytes);
    machine.cache_bytes = static_cast<double>(device.l2_bytes);
    machine.is_gpu = true;
    machine.multiprocessors = device.multiprocessors;
    return machine;
}

std::optional<double> load_per_core() {
    std::array<double, 1> load{};
    return ::getloadavg(load.data(), 1) == 1 ? std::optional(load[0] / host_cores()) : std::nullopt;
}

}  // namespace treeline::calibrate
