#include "kernels/host_memory.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace treeline::kernels {
namespace {

constexpr std::size_t alignment = 256;
constexpr std::size_t large_page = std::size_t{2} << 20;

std::size_t rounded_up(std::size_t bytes, std::size_t to) { return (std::max<std::size_t>(bytes, 1) + to - 1) / to * to; }

#ifdef MADV_HUGEPAGE
/// Each in a mapping of its own: in the heap the header of one piece is in the large page of its neighbour, which is then made
/// of small ones.
class Mappings {
public:
    void* make(std::size_t bytes) {
        const std::size_t wanted = rounded_up(bytes, large_page), mapped = wanted + large_page;
        void* begin = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (begin == MAP_FAILED) {
            throw std::bad_alloc();
        }
        // What is before and behind whole large pages goes back.
        auto* first = static_cast<std::byte*>(begin);
        const std::size_t before = (large_page - reinterpret_cast<std::uintptr_t>(begin) % large_page) % large_page;
        const std::size_t behind = mapped - before - wanted;
        std::byte* piece = first + before;
        if (before > 0) {
            ::munmap(first, before);
        }
        if (behind > 0) {
            ::munmap(piece + wanted, behind);
        }
        static_cast<void>(::madvise(piece, wanted, MADV_HUGEPAGE));  // a wish: nothing is lost where it is refused
        const std::lock_guard lock(mutex_);
        bytes_[piece] = wanted;
        return piece;
    }

    /// Whether it was one of these.
    bool release(void* memory) {
        std::size_t bytes = 0;
        {
            const std::lock_guard lock(mutex_);
            const auto found = bytes_.find(memory);
            if (found == bytes_.end()) {
                return false;
            }
            bytes = found->second;
            bytes_.erase(found);
        }
        ::munmap(memory, bytes);
        return true;
    }

private:
    std::mutex mutex_;
    std::unordered_map<void*, std::size_t> bytes_;
};

Mappings& mappings() {
    static Mappings all;
    return all;
}
#endif

}  // namespace

void* allocate_on_host(std::size_t bytes) {
#ifdef MADV_HUGEPAGE
    if (bytes >= large_page) {
        return mappings().make(bytes);
    }
#endif
    void* memory = std::aligned_alloc(alignment, rounded_up(bytes, alignment));
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

void release_on_host(void* memory) {
#ifdef MADV_HUGEPAGE
    if (mappings().release(memory)) {
        return;
    }
#endif
    std::free(memory);
}

std::size_t free_on_host() {
    std::ifstream file("/proc/meminfo");
    std::string name;
    for (std::size_t kibibytes = 0; file >> name >> kibibytes; file.ignore(64, '\n')) {
        if (name == "MemAvailable:") {
            return kibibytes * 1024;
        }
    }
    return 0;
}

void copy_on_host(void* to, const void* from, std::size_t bytes) {
    const std::size_t pieces = bytes / large_page;
#pragma omp parallel for schedule(static) if (pieces > 4)
    for (std::size_t piece = 0; piece < pieces; ++piece) {
        std::memcpy(static_cast<std::byte*>(to) + piece * large_page, static_cast<const std::byte*>(from) + piece * large_page,
                    large_page);
    }
    std::memcpy(static_cast<std::byte*>(to) + pieces * large_page, static_cast<const std::byte*>(from) + pieces * large_page,
                bytes - pieces * large_page);
}

}  // namespace treeline::kernels
