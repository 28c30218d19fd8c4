// Rows moved by index, and the bandwidth probes.
#include <omp.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/vector_loops.h"

namespace treeline::kernels::cpu {
namespace {

struct Range {
    std::size_t begin, bytes;
};

/// A thread's share of memory, in whole blocks of 4 KiB except at the end.
Range share_of_this_thread(std::size_t bytes) {
    const auto threads = static_cast<std::size_t>(omp_get_num_threads());
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    constexpr std::size_t block = 4096;
    const std::size_t share = (bytes / threads + block - 1) / block * block;
    const std::size_t begin = std::min(bytes, thread * share);
    return {begin, std::min(bytes - begin, share)};
}

}  // namespace

void empty(Queue /*queue*/) {
#pragma omp parallel
    {
        asm volatile("");  // keeps the region from being left out
    }
}

/// Rows are shared out in pieces: a recurrent state is one row of a megabyte, and there may be one row only.
void gather_rows(const GatherRows& gather, Queue /*queue*/) {
    check(gather);
    constexpr std::int64_t piece = 1 << 16;
    const auto element = static_cast<std::int64_t>(bytes_of(gather.from.type));
    const std::int64_t bytes = gather.width * element, pieces = (bytes + piece - 1) / piece;
#pragma omp parallel for schedule(static) collapse(2)
    for (std::int64_t i = 0; i < gather.rows; ++i) {
        for (std::int64_t part = 0; part < pieces; ++part) {
            const std::int64_t from = gather.from_row != nullptr ? gather.from_row[i] : i;
            const std::int64_t to = gather.to_row != nullptr ? gather.to_row[i] : i;
            if (from >= 0 && to >= 0) {
                std::memcpy(static_cast<char*>(gather.to.data) + to * gather.to.stride * element + part * piece,
                            static_cast<const char*>(gather.from.data) + from * gather.from.stride * element + part * piece,
                            static_cast<std::size_t>(std::min(piece, bytes - part * piece)));
            }
        }
    }
}

void read_probe(const ReadProbe& probe, Queue /*queue*/) {
    check(probe);
    std::uint32_t sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
        const Range range = share_of_this_thread(probe.bytes);
        sum += sum_of_words(static_cast<const std::uint32_t*>(probe.from) + range.begin / 4, range.bytes / 4);
    }
    *probe.sum = sum;
}

void write_probe(const WriteProbe& probe, Queue /*queue*/) {
    check(probe);
#pragma omp parallel
    {
        alignas(64) std::array<std::uint32_t, 1024> pattern;
        pattern.fill(probe.word);
        const Range range = share_of_this_thread(probe.bytes);
        for (std::size_t done = 0; done < range.bytes; done += sizeof(pattern)) {
            stream_copy(static_cast<char*>(probe.to) + range.begin + done, pattern.data(),
                        std::min(sizeof(pattern), range.bytes - done));
        }
    }
}

void copy_probe(const CopyProbe& probe, Queue /*queue*/) {
    check(probe);
#pragma omp parallel
    {
        const Range range = share_of_this_thread(probe.bytes);
        stream_copy(static_cast<char*>(probe.to) + range.begin, static_cast<const char*>(probe.from) + range.begin,
                    range.bytes);
    }
}

}  // namespace treeline::kernels::cpu
