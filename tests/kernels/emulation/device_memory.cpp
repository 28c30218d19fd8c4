#include "device_memory.h"

#include <cstring>
#include <new>
#include <utility>

#include "cache.h"

namespace emulation {
namespace {

constexpr std::align_val_t alignment{256};

}  // namespace

DeviceMemory& DeviceMemory::all() {
    static auto* memory = new DeviceMemory;  // outlives whatever releases its memory when the program ends
    return *memory;
}

void* DeviceMemory::allocate(std::size_t bytes) {
    allocated_[current_device()] += bytes;
    void* memory = ::operator new(bytes, alignment);
    std::memset(memory, 0xff, bytes);
    auto piece = std::make_unique<Piece>();
    piece->begin = reinterpret_cast<std::uintptr_t>(memory);
    piece->bytes = bytes;
    piece->device = current_device();
    piece->touches.cover({static_cast<const std::byte*>(memory), bytes});
    pieces_.emplace(piece->begin, std::move(piece));
    return memory;
}

bool DeviceMemory::release(void* memory) {
    last_[0] = last_[1] = nullptr;
    const auto piece = pieces_.find(reinterpret_cast<std::uintptr_t>(memory));
    const bool known = piece != pieces_.end();
    if (known) {
        allocated_[piece->second->device] -= piece->second->bytes;
        pieces_.erase(piece);
        ::operator delete(memory, alignment);
    }
    return known;
}

DeviceMemory::Piece* DeviceMemory::piece_of(std::uintptr_t address) const {
    auto after = pieces_.upper_bound(address);
    if (after == pieces_.begin()) {
        return nullptr;
    }
    Piece* piece = std::prev(after)->second.get();
    return address - piece->begin < piece->bytes ? piece : nullptr;
}

bool DeviceMemory::holds(const void* memory, std::size_t bytes) const {
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    const Piece* piece = piece_of(address);
    return piece != nullptr && bytes <= piece->bytes - (address - piece->begin);
}

void DeviceMemory::touch(std::uintptr_t address, std::size_t bytes, Touch touch, const Toucher& toucher) {
    Piece* piece = nullptr;
    for (Piece* recent : last_) {
        piece = recent != nullptr && address - recent->begin < recent->bytes ? recent : piece;
    }
    piece = piece != nullptr ? piece : piece_of(address);
    if (piece == nullptr) {
        fail("touches memory that is not the device's, or lies beyond what was allocated");
    }
    if (piece != last_[0]) {
        last_[1] = std::exchange(last_[0], piece);
    }
    if (!may_reach(running_device(), piece->device)) {
        fail("touches memory of another device, which its own was not let reach");
    }
    const std::size_t offset = address - piece->begin;
    if (bytes > piece->bytes - offset) {
        fail("goes beyond the end of the memory allocated");
    }
    Cache::device().touch(address, bytes);
    piece->touches.note(offset, bytes, touch, toucher, "memory");
}

}  // namespace emulation
