#include "kernels/cpu/openblas.h"

#include <string>

#include <dlfcn.h>

#include "kernels/backend.h"

namespace treeline::kernels::cpu {
namespace {

constexpr const char* library = "libopenblas.so.0";

Sgemm loaded() {
    void* handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
    void* symbol = handle != nullptr ? ::dlsym(handle, "cblas_sgemm") : nullptr;
    if (symbol == nullptr) {
        const char* reason = ::dlerror();
        throw KernelError(std::string("OpenBLAS cannot be loaded (") + (reason != nullptr ? reason : library) + ")");
    }
    return reinterpret_cast<Sgemm>(symbol);
}

}  // namespace

Sgemm openblas_sgemm() {
    static const Sgemm sgemm = loaded();
    return sgemm;
}

}  // namespace treeline::kernels::cpu
