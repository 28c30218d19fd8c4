#include "decoder/memory.h"

#include <algorithm>
#include <stdexcept>

namespace treeline::decoder {

Memory::~Memory() {
    for (void* block : blocks_) {
        backend_.release(block);
    }
}

void* Memory::allocate(std::size_t bytes) {
    const std::size_t whole = (std::max<std::size_t>(bytes, 1) + 255) / 256 * 256;
    blocks_.reserve(blocks_.size() + 1);
    void* block = backend_.allocate(whole);
    blocks_.push_back(block);
    backend_.write_probe({block, whole, 0}, queue_);
    bytes_ += whole;
    return block;
}

kernels::Rows Memory::rows(std::int64_t count, std::int64_t width, kernels::ElementType type) {
    const std::int64_t stride = (width + 31) / 32 * 32;
    return {allocate(static_cast<std::size_t>(count * stride) * kernels::bytes_of(type)), type, stride};
}

std::span<int> Indices::host() const {
    return table_ == nullptr ? std::span<int>() : std::span<int>(table_->host_).subspan(offset_, count_);
}

const int* Indices::device() const { return table_ == nullptr ? nullptr : table_->device_ + offset_; }

Indices IndexTable::add(std::size_t count) {
    if (device_ != nullptr) {
        throw std::logic_error("the index table is in use and cannot grow");
    }
    const std::size_t offset = host_.size();
    host_.resize(offset + count, 0);
    return {this, offset, count};
}

Indices IndexTable::add(std::span<const int> values) {
    const Indices added = add(values.size());
    std::copy(values.begin(), values.end(), added.host().begin());
    return added;
}

void IndexTable::upload() {
    if (device_ == nullptr) {
        device_ = memory_.array<int>(host_.size());
    }
    memory_.backend().upload(device_, host_.data(), host_.size() * sizeof(int), memory_.queue());
}

}  // namespace treeline::decoder
