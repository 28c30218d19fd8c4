#include "calibrate/measure/workspace.h"

#include <algorithm>
#include <stdexcept>

#include "numerics/random.h"

namespace treeline::calibrate {
namespace {

constexpr std::size_t alignment = 256;

std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// Pairs of random bf16 numbers between 1/8 and 1 in size: as fp32 they are ordinary numbers, too. Neither form holds
/// denormals, infinities or NaNs, which some processors compute with more slowly; nor are their bytes NaNs of fp8 (E4M3), which
/// would leave nothing else in sums.
std::vector<std::uint32_t> random_words(std::size_t count) {
    numerics::Random random(20'261'121);
    std::vector<std::uint32_t> words(count);
    const auto half = [](std::uint32_t bits) {
        const std::uint32_t exponent = 124U + (bits & 3U) % 3U;  // 2^-3 to 2^-1
        return (bits & 0x8000U) | exponent << 7U | (bits >> 2U & 0x7eU);
    };
    for (std::uint32_t& word : words) {
        const auto bits = static_cast<std::uint32_t>(random.bits() >> 32);
        word = half(bits >> 16U) << 16U | half(bits & 0xffffU);
    }
    return words;
}

void fill(const kernels::Backend& backend, const DeviceBlock& block) {
    static const std::vector<std::uint32_t> words = random_words(std::size_t{1} << 20);
    const std::size_t piece = words.size() * sizeof(words[0]);
    for (std::size_t at = 0; at < block.bytes(); at += piece) {
        backend.upload(block.data() + at, words.data(), std::min(piece, block.bytes() - at), {});
    }
    backend.wait({});
}

}  // namespace

DeviceBlock::DeviceBlock(const kernels::Backend& backend, std::size_t bytes)
    : backend_(backend), bytes_(aligned(bytes)), data_(static_cast<std::byte*>(backend.allocate(bytes_))) {}

DeviceBlock::~DeviceBlock() { backend_.release(data_); }

Workspace::Workspace(const kernels::Backend& backend, std::size_t rotation) : backend_(backend), rotation_(aligned(rotation)) {
    for (Rotating* each : {&inputs_, &outputs_, &states_[0], &states_[1], &activations_, &results_}) {
        const bool rotates = each != &activations_ && each != &results_;
        each->block = std::make_unique<DeviceBlock>(backend_, rotates ? rotation_ : rotation_ / 2);
        fill(backend_, *each->block);
    }
}

std::byte* Workspace::take(Rotating& from, std::size_t bytes) {
    const std::size_t size = aligned(bytes);
    if (size > from.block->bytes()) {
        throw std::length_error("the workspace of the measurements is too small for a kernel");
    }
    if (from.next + size > from.block->bytes()) {
        from.next = 0;
    }
    std::byte* place = from.block->data() + from.next;
    from.next += size;
    return place;
}

std::byte* Workspace::take_rotating(Rotating& from, std::size_t bytes) {
    rotated_bytes_ += bytes;
    return take(from, bytes);
}

const std::byte* Workspace::next_input(std::size_t bytes) { return take_rotating(inputs_, bytes); }
std::byte* Workspace::next_output(std::size_t bytes) { return take_rotating(outputs_, bytes); }
std::byte* Workspace::next_state(std::size_t bytes, kernels::ElementType type) {
    return take_rotating(states_[type == kernels::ElementType::bf16 ? 1 : 0], bytes);
}

void Workspace::start_activations() {
    activations_.next = 0;
    results_.next = 0;
}

kernels::ConstRows Workspace::activations(std::int64_t rows, std::int64_t width, kernels::ElementType type) {
    return {take(activations_, static_cast<std::size_t>(rows * width) * bytes_of(type)), type, width};
}

kernels::Rows Workspace::results(std::int64_t rows, std::int64_t width, kernels::ElementType type) {
    return {take(results_, static_cast<std::size_t>(rows * width) * bytes_of(type)), type, width};
}

const void* Workspace::kept(const void* values, std::size_t bytes) {
    small_.push_back(std::make_unique<DeviceBlock>(backend_, std::max<std::size_t>(bytes, 1)));
    backend_.upload(small_.back()->data(), values, bytes, {});
    backend_.wait({});
    return small_.back()->data();
}

const int* Workspace::integers(const std::vector<int>& values) {
    return static_cast<const int*>(kept(values.data(), values.size() * sizeof(int)));
}

const float* Workspace::floats(const std::vector<float>& values) {
    return static_cast<const float*>(kept(values.data(), values.size() * sizeof(float)));
}

const std::uint64_t* Workspace::words(const std::vector<std::uint64_t>& values) {
    return static_cast<const std::uint64_t*>(kept(values.data(), values.size() * sizeof(std::uint64_t)));
}

void* Workspace::scratch(std::size_t bytes) {
    const std::size_t size = aligned(std::max<std::size_t>(bytes, 1));
    const std::size_t held = scratch_.empty() ? 0 : scratch_.back()->bytes();
    if (scratch_used_ + size > held) {
        constexpr std::size_t least = std::size_t{64} << 10;
        scratch_.push_back(std::make_unique<DeviceBlock>(backend_, std::max({2 * held, size, least})));
        scratch_used_ = 0;
    }
    std::byte* const place = scratch_.back()->data() + scratch_used_;
    scratch_used_ += size;
    return place;
}

}  // namespace treeline::calibrate
