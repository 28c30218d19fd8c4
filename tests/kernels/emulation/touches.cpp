#include "touches.h"

#include <sys/mman.h>

#include <new>

namespace emulation {
namespace {

constexpr std::size_t grain = 2;  // bytes: neighbours in bf16 are different threads' own

// A stamp, from the lowest bit: thread 10, barriers passed 11, block 20, launch 20, atomic, many threads, many blocks. Launch
// 0 is never run, so memory that nobody touched holds 0. Numbers wrap around: a race may then be missed, none invented, but
// between touches that lie exactly 2^20 launches apart.
constexpr std::uint64_t thread_mask = 0x3ff, passed_mask = std::uint64_t{0x7ff} << 10,
                        block_mask = std::uint64_t{0xfffff} << 21, launch_mask = std::uint64_t{0xfffff} << 41;
constexpr std::uint64_t atomic_flag = std::uint64_t{1} << 61, many_threads = std::uint64_t{1} << 62,
                        many_blocks = std::uint64_t{1} << 63;

std::uint64_t stamp_of(const Toucher& toucher) {
    return (std::uint64_t{toucher.launch} << 41 & launch_mask) | (std::uint64_t{toucher.block} << 21 & block_mask) |
           (std::uint64_t{toucher.passed} << 10 & passed_mask) | (toucher.thread & thread_mask);
}

/// Whether the earlier touch surely came before: another launch, the same thread, or a barrier in between.
bool is_ordered(std::uint64_t earlier, std::uint64_t now) {
    const std::uint64_t difference = earlier ^ now;
    if ((difference & launch_mask) != 0) {
        return true;
    }
    if ((difference & block_mask) != 0 || (earlier & many_blocks) != 0) {
        return false;
    }
    return (difference & passed_mask) != 0 || ((difference & thread_mask) == 0 && (earlier & many_threads) == 0);
}

/// What is kept of two reads.
std::uint64_t both(std::uint64_t earlier, std::uint64_t now) {
    const std::uint64_t difference = earlier ^ now;
    if ((difference & launch_mask) != 0) {
        return now;
    }
    std::uint64_t kept = now | (earlier & many_blocks);
    if ((difference & block_mask) != 0) {
        kept |= many_blocks;
    } else if ((difference & passed_mask) == 0) {
        kept |= (earlier & many_threads) | ((difference & thread_mask) != 0 ? many_threads : 0);
    }
    return kept;
}

std::string name_of(std::uint64_t stamp) {
    return "thread " + std::to_string(stamp & thread_mask) + " of block " + std::to_string((stamp & block_mask) >> 21);
}

}  // namespace

Touches::~Touches() {
    if (cells_ != nullptr) {
        munmap(cells_, bytes_);
    }
}

void Touches::cover(std::span<const std::byte> memory) {
    if (cells_ != nullptr) {
        munmap(cells_, bytes_);
    }
    bytes_ = (memory.size() / grain + 1) * sizeof(Cell);
    // Pages of zeros that take no memory before they are written.
    void* cells = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (cells == MAP_FAILED) {
        throw std::bad_alloc();
    }
    cells_ = static_cast<Cell*>(cells);
}

void Touches::note(std::size_t offset, std::size_t bytes, Touch touch, const Toucher& toucher, const char* where) {
    const std::uint64_t now = stamp_of(toucher);
    for (std::size_t i = offset / grain; i < (offset + bytes + grain - 1) / grain; ++i) {
        Cell& cell = cells_[i];
        const bool both_atomic = touch == Touch::atomic && (cell.written & atomic_flag) != 0;
        if (!both_atomic && !is_ordered(cell.written, now)) {
            fail(std::string(touch == Touch::read ? "reads " : "writes ") + where + " that " + name_of(cell.written) +
                 " writes, and no barrier lies between");
        }
        if (touch == Touch::read) {
            cell.read = both(cell.read, now);
        } else if (!is_ordered(cell.read, now)) {
            fail(std::string("writes ") + where + " that " + name_of(cell.read) + " reads, and no barrier lies between");
        } else {
            cell.written = now | (touch == Touch::atomic ? atomic_flag : 0);
        }
    }
}

}  // namespace emulation
