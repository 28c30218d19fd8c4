// Random arguments for a kernel, once for the double reference and once for the backend under test, and the comparison of what
// the two leave.
#pragma once

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "sim/trees/tree_shape.h"

namespace treeline::testing {

/// The CPU's in the unit tests, CUDA's in the tests with the label `gpu`: each program defines its own.
const kernels::Backend& backend_under_test();

/// Memory of the backend under test.
class DeviceMemory {
public:
    explicit DeviceMemory(std::size_t bytes) : memory_(backend_under_test().allocate(bytes)) {}
    DeviceMemory(DeviceMemory&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
    DeviceMemory& operator=(DeviceMemory&&) = delete;
    ~DeviceMemory() {
        if (memory_ != nullptr) {
            backend_under_test().release(memory_);
        }
    }
    [[nodiscard]] void* get() const { return memory_; }

private:
    void* memory_;
};

enum class Side { reference, device };

/// Values in host memory with a copy on the device.
template <class Value>
class Both {
public:
    explicit Both(std::vector<Value> values) : host_(std::move(values)), device_(host_.size() * sizeof(Value)) { to_device(); }

    [[nodiscard]] Value* on(Side side) { return side == Side::device ? static_cast<Value*>(device_.get()) : host_.data(); }
    [[nodiscard]] const Value* on(Side side) const { return const_cast<Both*>(this)->on(side); }
    [[nodiscard]] std::vector<Value>& host() { return host_; }
    void to_device() { backend_under_test().upload(device_.get(), host_.data(), host_.size() * sizeof(Value), {}); }
    [[nodiscard]] std::vector<Value> from_device() const {
        std::vector<Value> values(host_.size());
        backend_under_test().wait({});
        backend_under_test().download(values.data(), device_.get(), values.size() * sizeof(Value), {});
        return values;
    }

private:
    std::vector<Value> host_;
    DeviceMemory device_;
};

/// Rows that kernels read. Between rows lie `gap` NaNs (the width rounded up to a multiple of 8 first), which nobody may use.
class InputRows {
public:
    InputRows(int rows, int width, kernels::ElementType type, std::mt19937_64& random, double low, double high, int gap = 16);

    [[nodiscard]] kernels::ConstRows on(Side side) const { return {bytes_.on(side), type_, stride_}; }
    [[nodiscard]] const void* data(Side side) const { return bytes_.on(side); }

private:
    kernels::ElementType type_;
    std::int64_t stride_;
    Both<std::byte> bytes_;
};

/// Rows that kernels write, or change in place: fp64 on the side of the reference, poisoned with NaN where they are not given.
class Output {
public:
    Output(int rows, int width, kernels::ElementType type);
    /// Starts as `initial` (random values of `type`) on both sides.
    Output(int rows, int width, kernels::ElementType type, std::mt19937_64& random, double low, double high);

    [[nodiscard]] kernels::Rows on(Side side);
    [[nodiscard]] void* data(Side side) { return on(side).data; }
    [[nodiscard]] kernels::ElementType type(Side side) const {
        return side == Side::device ? type_ : kernels::ElementType::fp64;
    }
    /// ||device - reference|| / ||reference|| over elements that the reference wrote; infinite where the device left a NaN, or
    /// wrote where the reference did not. `typical` is the size of an element whose terms do not cancel: the least that
    /// ||reference|| counts as, per element. Where an output has one or two elements, all of them may cancel, and what is left
    /// of rounding their terms is large beside them on either side.
    [[nodiscard]] double relative_error(double typical = 0.0) const;
    [[nodiscard]] std::vector<double> device_values() const;

private:
    kernels::ElementType type_;
    std::int64_t width_;
    std::vector<double> reference_;
    Both<std::byte> device_;
};

/// 1e-5 for fp32, 2e-2 where a type in memory is bf16.
double tolerance(std::initializer_list<kernels::ElementType> types);

/// Root mean square of a sum of `terms` products of two values between -1 and 1 (each with a mean square of 1/3).
double typical_product(int terms);

/// A seed from the machine, or TREELINE_TEST_SEED. Print it with INFO.
std::uint64_t test_seed();

std::string name_of(kernels::ElementType type);

/// Chains, combs, full binary trees, the shapes of STree and of Mamba drafters, and a random one.
std::vector<sim::DraftTree> test_trees(std::mt19937_64& random);

/// A tree on both sides.
class TreeOnBoth {
public:
    explicit TreeOnBoth(const sim::DraftTree& tree);
    [[nodiscard]] kernels::TreeView on(Side side) const;

private:
    int tokens_, words_;
    Both<int> parent_, level_;
    Both<std::uint64_t> ancestors_;
};

int pick(std::mt19937_64& random, std::initializer_list<int> values);
std::vector<float> random_floats(std::mt19937_64& random, std::size_t count, double low, double high);

}  // namespace treeline::testing
