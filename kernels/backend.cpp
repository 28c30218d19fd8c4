#include "kernels/backend.h"

#include <cstring>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "kernels/cpu/kernels.h"
#include "kernels/reference/kernels.h"

namespace treeline::kernels {
namespace {

constexpr std::align_val_t alignment{256};

/// Large memory is put on large pages where the system has them: on pages of 4 KB, requests for memory ahead wait for their
/// addresses (reading is 15 % slower on a Zen 4).
void* allocate(std::size_t bytes) {
    void* memory = ::operator new(bytes, alignment);
#if defined(__linux__)
    constexpr std::size_t large_page = std::size_t{2} << 20;
    void* first = memory;
    std::size_t room = bytes;
    if (bytes >= 2 * large_page && std::align(large_page, large_page, first, room) != nullptr) {
        madvise(first, room / large_page * large_page, MADV_HUGEPAGE);  // a hint: that it fails does no harm
    }
#endif
    return memory;
}
void release(void* memory) { ::operator delete(memory, alignment); }
void copy(void* to, const void* from, std::size_t bytes, Queue /*queue*/) { std::memcpy(to, from, bytes); }
void nothing(Queue /*queue*/) {}

void empty_parallel_region(Queue /*queue*/) {
#pragma omp parallel
    {
        asm volatile("");  // keeps the region from being left out
    }
}

}  // namespace

const Backend& reference_backend() {
    static const Backend backend = {
        .name = "reference",
        .allocate = allocate,
        .release = release,
        .upload = copy,
        .download = copy,
        .wait = nothing,
        .scan = reference::scan,
        .tree_scan = reference::tree_scan,
        .convolution_update = reference::convolution_update,
        .convolution_advance = reference::convolution_advance,
        .attention = reference::attention,
        .linear = reference::linear,
        .rms_norm = reference::rms_norm,
        .gated_rms_norm = reference::gated_rms_norm,
        .gated_activation = reference::gated_activation,
        .rotary = reference::rotary,
        .top_choices = reference::top_choices,
        .greedy_verification = reference::greedy_verification,
        .rejection_verification = reference::rejection_verification,
        .gather_rows = reference::gather_rows,
        .read_probe = reference::read_probe,
        .write_probe = reference::write_probe,
        .copy_probe = reference::copy_probe,
        .empty = nothing,
    };
    return backend;
}

const Backend& cpu_backend() {
    static const Backend backend = {
        .name = "cpu",
        .allocate = allocate,
        .release = release,
        .upload = copy,
        .download = copy,
        .wait = nothing,
        .scan = cpu::scan,
        .tree_scan = cpu::tree_scan,
        .convolution_update = cpu::convolution_update,
        .convolution_advance = cpu::convolution_advance,
        .attention = cpu::attention,
        .linear = cpu::linear,
        .rms_norm = cpu::rms_norm,
        .gated_rms_norm = cpu::gated_rms_norm,
        .gated_activation = cpu::gated_activation,
        .rotary = cpu::rotary,
        .top_choices = cpu::top_choices,
        .greedy_verification = cpu::greedy_verification,
        .rejection_verification = cpu::rejection_verification,
        .gather_rows = cpu::gather_rows,
        .read_probe = cpu::read_probe,
        .write_probe = cpu::write_probe,
        .copy_probe = cpu::copy_probe,
        .empty = empty_parallel_region,
    };
    return backend;
}

}  // namespace treeline::kernels
