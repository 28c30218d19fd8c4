#include "kernels/backend.h"

#include "kernels/cpu/kernels.h"
#include "kernels/host_memory.h"
#include "kernels/reference/kernels.h"

namespace treeline::kernels {
namespace {

void copy(void* to, const void* from, std::size_t bytes, Queue /*queue*/) { copy_on_host(to, from, bytes); }
void nothing(Queue /*queue*/) {}

Backend host_backend(std::string_view name, void (*put_kernels)(Backend&)) {
    Backend backend{};
    backend.name = name;
    backend.allocate = allocate_on_host;
    backend.release = release_on_host;
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
