#include "kernels/backend.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#ifdef __linux__
#include <malloc.h>
#include <sys/mman.h>
#endif

#include "kernels/cpu/kernels.h"
#include "kernels/reference/kernels.h"

namespace treeline::kernels {
namespace {

constexpr std::size_t alignment = 256;
constexpr std::size_t large_page = std::size_t{2} << 20;

/// Weights, caches and states lie in large pages where the system has them: small ones make kernels wait for translations, and
/// times depend on where the pages happen to lie.
void* allocate(std::size_t bytes) {
    const std::size_t aligned_to = bytes >= large_page ? large_page : alignment;
    const std::size_t whole = (std::max<std::size_t>(bytes, 1) + aligned_to - 1) / aligned_to * aligned_to;
#ifdef M_MMAP_THRESHOLD
    // Each in a mapping of its own: in the heap the header of one piece is in the large page of its neighbour, which is then
    // made of small ones. It holds for the whole process.
    static const int own_mappings = ::mallopt(M_MMAP_THRESHOLD, static_cast<int>(large_page));
    static_cast<void>(own_mappings);
#endif
    void* memory = std::aligned_alloc(aligned_to, whole);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
#ifdef MADV_HUGEPAGE
    if (aligned_to == large_page) {
        static_cast<void>(::madvise(memory, whole, MADV_HUGEPAGE));  // a wish: nothing is lost where it is refused
    }
#endif
    return memory;
}
void release(void* memory) { std::free(memory); }
void copy(void* to, const void* from, std::size_t bytes, Queue /*queue*/) { std::memcpy(to, from, bytes); }
void nothing(Queue /*queue*/) {}

Backend host_backend(std::string_view name, void (*put_kernels)(Backend&)) {
    Backend backend{};
    backend.name = name;
    backend.allocate = allocate;
    backend.release = release;
    backend.upload = copy;
    backend.download = copy;
    backend.wait = nothing;
    put_kernels(backend);
    return backend;
}

}  // namespace

const Backend& reference_backend() {
    static const Backend backend = host_backend("reference", reference::put_kernels);
    return backend;
}

const Backend& cpu_backend() {
    static const Backend backend = host_backend("cpu", cpu::put_kernels);
    return backend;
}

}  // namespace treeline::kernels
