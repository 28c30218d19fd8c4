#include "calibrate/measure/sentinel.h"

#include <algorithm>
#include <chrono>

#include "calibrate/timings.h"

namespace treeline {
namespace {

using Clock = std::chrono::steady_clock;

std::size_t whole_pieces(std::size_t bytes) { return std::min(bytes, std::size_t{1} << 30) / 16 * 16; }

}  // namespace

Sentinel::Sentinel(const kernels::Backend& backend, std::size_t bytes)
    : backend_(backend), block_(backend, whole_pieces(bytes)), sum_(backend, sizeof(unsigned)) {
    backend_.write_probe({block_.data(), block_.bytes(), 1}, {});
    backend_.wait({});
}

double Sentinel::seconds() {
    std::vector<double> samples;
    for (int i = 0; i < 5; ++i) {
        const Clock::time_point start = Clock::now();
        backend_.read_probe({block_.data(), block_.bytes(), reinterpret_cast<unsigned*>(sum_.data())}, {});
        backend_.wait({});
        samples.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    return quantile(samples, 0.5);
}

}  // namespace treeline
