// Memory that measured kernels work on: a few large blocks, handed out piece by piece and from the start again at their end.
//
// A block is several times the size of the last-level cache, so what a kernel takes next has long been evicted: every run reads
// weights, caches and states from main memory, as decoding does. What the previous kernel would just have written (activations)
// stays in one place instead, and is found in the cache if it fits.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "kernels/backend.h"

namespace treeline::calibrate {

/// Memory of a backend's device.
class DeviceBlock {
public:
    DeviceBlock(const kernels::Backend& backend, std::size_t bytes);
    DeviceBlock(const DeviceBlock&) = delete;
    DeviceBlock& operator=(const DeviceBlock&) = delete;
    ~DeviceBlock();
    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

private:
    const kernels::Backend& backend_;
    std::size_t bytes_;
    std::byte* data_;
};

class Workspace {
public:
    /// `rotation` bytes in each rotating block; they should exceed three times the last-level cache. Throws KernelError or
    /// std::bad_alloc if the device has no room for five times that.
    Workspace(const kernels::Backend& backend, std::size_t rotation);

    [[nodiscard]] const kernels::Backend& backend() const { return backend_; }
    [[nodiscard]] std::size_t rotation() const { return rotation_; }

    /// Address for the next input read from main memory: random numbers, valid both as fp32 and as bf16.
    const std::byte* next_input(std::size_t bytes);
    /// Address for the next output to main memory; its contents are never read.
    std::byte* next_output(std::size_t bytes);
    /// Address for the next state that is read and changed in place. States of each element type have a block of their own.
    std::byte* next_state(std::size_t bytes, kernels::ElementType type);

    /// Activations: the same places every time, one after the other since start_activations(). Inputs hold random numbers.
    void start_activations();
    kernels::ConstRows activations(std::int64_t rows, std::int64_t width, kernels::ElementType type);
    kernels::Rows results(std::int64_t rows, std::int64_t width, kernels::ElementType type);

    /// Small arrays on the device, which live as long as this.
    const int* integers(const std::vector<int>& values);
    const float* floats(const std::vector<float>& values);
    const std::uint64_t* words(const std::vector<std::uint64_t>& values);
    /// Uninitialised memory for what a kernel leaves within a run. Cases that are made ready one after the other share it, each
    /// from start_case() on.
    void* scratch(std::size_t bytes);
    void start_case() { scratch_used_ = 0; }

    /// Bytes that next_input(), next_output() and next_state() have handed out so far.
    [[nodiscard]] std::size_t rotated_bytes() const { return rotated_bytes_; }
    /// Whether pieces of this size can be taken.
    [[nodiscard]] bool holds(std::size_t bytes) const { return bytes <= rotation_; }

private:
    struct Rotating {
        std::unique_ptr<DeviceBlock> block;
        std::size_t next = 0;
    };
    std::byte* take(Rotating& from, std::size_t bytes);
    std::byte* take_rotating(Rotating& from, std::size_t bytes);
    const void* kept(const void* values, std::size_t bytes);

    const kernels::Backend& backend_;
    std::size_t rotation_, rotated_bytes_ = 0;
    Rotating inputs_, outputs_, states_[2], activations_, results_;
    std::vector<std::unique_ptr<DeviceBlock>> small_;
    std::vector<std::unique_ptr<DeviceBlock>> scratch_;  ///< the last is handed out; recorded graphs use the others
    std::size_t scratch_used_ = 0;                       ///< of the last
};

}  // namespace treeline::calibrate
