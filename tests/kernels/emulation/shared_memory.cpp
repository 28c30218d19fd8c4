#include "shared_memory.h"

#include <link.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "device_limits.h"

namespace emulation {
namespace {

constexpr std::uint32_t poison = 0x7fedcba9;  // a NaN

constexpr std::size_t line = 64;  // bytes that are poisoned at once

void fill(std::span<std::byte> memory) {
    for (std::size_t at = 0; at + sizeof(poison) <= memory.size(); at += sizeof(poison)) {
        std::memcpy(memory.data() + at, &poison, sizeof(poison));
    }
}

std::span<std::byte> line_of(std::span<std::byte> memory, std::size_t number) {
    return memory.subspan(number * line, std::min(line, memory.size() - number * line));
}

struct Search {
    std::uintptr_t function;
    std::span<std::byte> found;
};

/// dl_iterate_phdr's: remembers the thread-local storage of the library that has the function among its loaded segments.
int note_storage(dl_phdr_info* info, std::size_t /*size*/, void* data) {
    auto& search = *static_cast<Search*>(data);
    bool holds = false;
    std::size_t bytes = 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& segment = info->dlpi_phdr[i];
        holds = holds || (segment.p_type == PT_LOAD && search.function - (info->dlpi_addr + segment.p_vaddr) < segment.p_memsz);
        bytes = segment.p_type == PT_TLS ? segment.p_memsz : bytes;
    }
    if (holds && info->dlpi_tls_data != nullptr) {
        search.found = {static_cast<std::byte*>(info->dlpi_tls_data), bytes};
    }
    return holds ? 1 : 0;
}

}  // namespace

void PoisonedMemory::cover(std::span<std::byte> memory) {
    memory_ = memory;
    touches_.cover(memory);
    is_written_.assign(memory.size() / line + 1, false);
    written_.clear();
    fill(memory);
}

void PoisonedMemory::poison_again() {
    for (const std::size_t number : written_) {
        fill(line_of(memory_, number));
        is_written_[number] = false;
    }
    written_.clear();
}

std::size_t PoisonedMemory::written_bytes() const {
    std::size_t bytes = 0;
    for (const std::size_t number : written_) {
        const std::span<std::byte> of_line = line_of(memory_, number);
        for (std::size_t at = 0; at + sizeof(poison) <= of_line.size(); at += sizeof(poison)) {
            bytes += std::memcmp(of_line.data() + at, &poison, sizeof(poison)) != 0 ? sizeof(poison) : 0;
        }
    }
    return bytes;
}

bool PoisonedMemory::touch(std::uintptr_t address, std::size_t bytes, Touch touch, const Toucher& toucher) {
    const std::uintptr_t offset = address - reinterpret_cast<std::uintptr_t>(memory_.data());
    if (offset >= memory_.size()) {
        return false;
    }
    if (bytes > memory_.size() - offset) {
        fail("goes beyond the end of shared memory");
    }
    touches_.note(offset, bytes, touch, toucher, "shared memory");
    for (std::size_t number = offset / line; touch != Touch::read && number <= (offset + bytes - 1) / line; ++number) {
        if (!is_written_[number]) {
            is_written_[number] = true;
            written_.push_back(number);
        }
    }
    return true;
}

SharedMemory& SharedMemory::current() {
    static SharedMemory only;
    return only;
}

SharedMemory& SharedMemory::of(const void* function) {
    static std::map<const void*, std::span<std::byte>> storage_of;
    auto known = storage_of.find(function);
    if (known == storage_of.end()) {
        Search search{reinterpret_cast<std::uintptr_t>(function), {}};
        dl_iterate_phdr(note_storage, &search);
        known = storage_of.emplace(function, search.found).first;
    }
    if (known->second.data() != current().declared_.memory().data()) {
        current().declared_.cover(known->second);
    }
    return current();
}

void SharedMemory::start_block(std::size_t dynamic_bytes) {
    alignas(16) static std::byte buffer[most_shared_bytes];
    if (dynamic_.memory().size() != dynamic_bytes) {
        dynamic_.cover({buffer, dynamic_bytes});
    }
    declared_.poison_again();
    dynamic_.poison_again();
    ++blocks_;
}

bool SharedMemory::touch(std::uintptr_t address, std::size_t bytes, Touch touch, const Toucher& by) {
    // Other blocks have memory of their own: what they did here lies as far back as another launch.
    Toucher toucher = by;
    toucher.launch = blocks_;
    const bool here = declared_.touch(address, bytes, touch, toucher) || dynamic_.touch(address, bytes, touch, toucher);
    writes_ += here && touch != Touch::read ? 1 : 0;
    return here;
}

void* dynamic_shared_memory() { return SharedMemory::current().dynamic_memory(); }

}  // namespace emulation
