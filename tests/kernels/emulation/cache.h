// The device's last-level cache, which may be emulated as well: which accesses of kernels find their line in it. Kernels then
// take as long as the memory needs for the lines that are missing, and nothing else takes time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace emulation {

class Cache {
public:
    static Cache& device();

    /// From now on, empty. `bytes` are a multiple of 2048.
    void start(std::size_t bytes, double bytes_per_second);
    void stop();
    [[nodiscard]] bool is_on() const { return !ways_.empty(); }
    [[nodiscard]] std::size_t bytes() const { return ways_.size() * line_bytes; }

    void touch(std::uintptr_t address, std::size_t bytes);
    /// Since start(): what the missing lines took.
    [[nodiscard]] double seconds() const { return static_cast<double>(missed_ * line_bytes) / bytes_per_second_; }

private:
    static constexpr std::size_t line_bytes = 128, ways_of_set = 16;
    void touch_line(std::uint64_t line);

    std::vector<std::uint64_t> ways_;  ///< lines of each set, the latest first; 0: none
    std::uint64_t last_ = 0, missed_ = 0;
    double bytes_per_second_ = 1.0;
};

}  // namespace emulation
