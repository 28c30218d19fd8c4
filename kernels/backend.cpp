#include "kernels/backend.h"

#include <cstring>
#include <new>

#include "kernels/cpu/kernels.h"
#include "kernels/reference/kernels.h"

namespace treeline::kernels {
namespace {

constexpr std::align_val_t alignment{256};

void* allocate(std::size_t bytes) { return ::operator new(bytes, alignment); }
void release(void* memory) { ::operator delete(memory, alignment); }
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
