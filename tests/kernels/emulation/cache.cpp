#include "cache.h"

#include <algorithm>

namespace emulation {

Cache& Cache::device() {
    static auto* cache = new Cache;  // outlives whatever releases its memory when the program ends
    return *cache;
}

void Cache::start(std::size_t bytes, double bytes_per_second) {
    ways_.assign(bytes / line_bytes / ways_of_set * ways_of_set, 0);
    last_ = missed_ = 0;
    bytes_per_second_ = bytes_per_second;
}

void Cache::stop() { ways_.clear(); }

void Cache::touch(std::uintptr_t address, std::size_t bytes) {
    if (!is_on() || bytes == 0) {
        return;
    }
    for (std::uint64_t line = address / line_bytes; line <= (address + bytes - 1) / line_bytes; ++line) {
        if (line != last_) {
            touch_line(line);
            last_ = line;
        }
    }
}

void Cache::touch_line(std::uint64_t line) {
    // Sets are drawn from all bits of the address, so that no stride meets few of them.
    const std::size_t sets = ways_.size() / ways_of_set;
    const auto set = ways_.begin() + static_cast<std::ptrdiff_t>((line * 0x9e3779b97f4a7c15U >> 20U) % sets * ways_of_set);
    const auto end = set + ways_of_set;
    auto found = std::find(set, end, line);
    if (found == end) {
        ++missed_;
        found = end - 1;
        *found = line;
    }
    std::rotate(set, found, found + 1);
}

}  // namespace emulation
