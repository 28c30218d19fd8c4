// Linear layers by cuBLASLt, which is loaded when first used: a program that holds these kernels also starts where there is no
// CUDA toolkit.
#include <cublasLt.h>
#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <tuple>

#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/linear_workspace.h"

namespace treeline::kernels::cuda {
namespace {

/// What cuBLASLt may use for sums across blocks: its own advice for Hopper, or less where a device has little memory.
std::size_t find_workspace_bytes() {
    constexpr std::size_t advised = 32U << 20;
    int device = 0;
    cudaDeviceProp properties{};
    succeed(cudaGetDevice(&device), "cudaGetDevice");
    succeed(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    return std::min<std::size_t>(advised, properties.totalGlobalMem / 64 / 256 * 256);
}

/// The functions of the library, under their names without the prefix.
struct CublasLt {
    decltype(&cublasLtCreate) create = nullptr;
    decltype(&cublasLtMatmulDescCreate) operation_create = nullptr;
    decltype(&cublasLtMatmulDescDestroy) operation_destroy = nullptr;
    decltype(&cublasLtMatmulDescSetAttribute) operation_set = nullptr;
    decltype(&cublasLtMatrixLayoutCreate) layout_create = nullptr;
    decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
    decltype(&cublasLtMatmulPreferenceCreate) preference_create = nullptr;
    decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
    decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
    decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
    decltype(&cublasLtMatmul) matmul = nullptr;

    CublasLt() {
        std::string unusable;
        void* library = open(unusable);
        if (library == nullptr) {
            throw KernelError(unusable.empty()
                                  ? "cuBLASLt is missing: neither the loader nor the folder lib beside the program, nor "
                                    "/usr/local/cuda has libcublasLt.so of CUDA 11, 12 or 13"
                                  : "cuBLASLt cannot be loaded: " + unusable);
        }
        find(library, "cublasLtCreate", create);
        find(library, "cublasLtMatmulDescCreate", operation_create);
        find(library, "cublasLtMatmulDescDestroy", operation_destroy);
        find(library, "cublasLtMatmulDescSetAttribute", operation_set);
        find(library, "cublasLtMatrixLayoutCreate", layout_create);
        find(library, "cublasLtMatrixLayoutDestroy", layout_destroy);
        find(library, "cublasLtMatmulPreferenceCreate", preference_create);
        find(library, "cublasLtMatmulPreferenceDestroy", preference_destroy);
        find(library, "cublasLtMatmulPreferenceSetAttribute", preference_set);
        find(library, "cublasLtMatmulAlgoGetHeuristic", heuristic);
        find(library, "cublasLtMatmul", matmul);
    }

    /// The library of the toolkit that this was built with, or else another version: what is used here has the same types and
    /// numbers from CUDA 11 to 13. `unusable`: why one that is there cannot be loaded.
    static void* open(std::string& unusable) {
        const std::string built_with = "libcublasLt.so." + std::to_string(CUDART_VERSION / 1000);
        std::error_code error;
        const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
        for (const std::string& folder : {std::string(), (program / "lib" / "").string(), std::string("/usr/local/cuda/lib64/"),
                                          std::string("/usr/local/cuda/targets/x86_64-linux/lib/")}) {
            for (const std::string& name : {built_with, std::string("libcublasLt.so"), std::string("libcublasLt.so.13"),
                                            std::string("libcublasLt.so.12"), std::string("libcublasLt.so.11")}) {
                if (void* library = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL)) {
                    return library;
                }
                const std::string reason = dlerror();
                unusable = reason.starts_with(folder + name + ": cannot open") ? unusable : reason;
            }
        }
        return nullptr;
    }

    template <class Function>
    static void find(void* library, const char* name, Function& function) {
        function = reinterpret_cast<Function>(dlsym(library, name));
        if (function == nullptr) {
            throw KernelError(std::string("cuBLASLt has no ") + name);
        }
    }
};

const CublasLt& library() {
    static const CublasLt loaded;
    return loaded;
}

void require_success(cublasStatus_t status, const char* call) {
    if (status != CUBLAS_STATUS_SUCCESS) {
        throw KernelError(std::string(call) + " failed with cuBLAS status " + std::to_string(static_cast<int>(status)));
    }
}

cudaDataType data_type(ElementType type) {
    switch (type) {
        case ElementType::bf16:
            return CUDA_R_16BF;
        case ElementType::fp8:
            return CUDA_R_8F_E4M3;
        case ElementType::int8:
            return CUDA_R_8I;
        case ElementType::int32:
            return CUDA_R_32I;
        case ElementType::fp32:
        case ElementType::fp64:
            break;
    }
    return CUDA_R_32F;
}

/// The largest power of 2, up to 256 (what cuBLASLt assumes where it is told nothing), that all three addresses are multiples
/// of.
std::uint32_t alignment_of(const Linear& linear) {
    const auto bits = reinterpret_cast<std::uintptr_t>(linear.x.data) | reinterpret_cast<std::uintptr_t>(linear.weight.data) |
                      reinterpret_cast<std::uintptr_t>(linear.y.data) | 256U;
    return static_cast<std::uint32_t>(bits & (~bits + 1U));
}

/// One product prepared: descriptors and the algorithm that cuBLASLt advises. Read row by row, y = x W^T is for cuBLAS, which
/// counts by columns, y^T = W x^T with W transposed back.
class Product {
public:
    Product(cublasLtHandle_t handle, const Linear& linear, std::size_t workspace_bytes) : workspace_bytes_(workspace_bytes) {
        const CublasLt& lt = library();
        const cudaDataType in = data_type(linear.x.type), out = data_type(linear.y.type);
        const auto inputs = static_cast<std::uint64_t>(linear.inputs), outputs = static_cast<std::uint64_t>(linear.outputs);
        const auto rows = static_cast<std::uint64_t>(linear.rows);
        sums_integers_ = linear.y.type == ElementType::int32;
        require_success(lt.operation_create(&operation_, sums_integers_ ? CUBLAS_COMPUTE_32I : CUBLAS_COMPUTE_32F,
                                            sums_integers_ ? CUDA_R_32I : CUDA_R_32F),
                        "cublasLtMatmulDescCreate");
        if (linear.x.type == ElementType::fp8) {
            // As engines' kernels do; Hopper's sums are then of 14 bits or so.
            const std::int8_t fast = 1;
            require_success(lt.operation_set(operation_, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof(fast)),
                            "cublasLtMatmulDescSetAttribute");
        }
        const cublasOperation_t transposed = CUBLAS_OP_T;
        require_success(lt.operation_set(operation_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof(transposed)),
                        "cublasLtMatmulDescSetAttribute");
        require_success(lt.layout_create(&weight_, in, inputs, outputs, linear.weight.stride), "cublasLtMatrixLayoutCreate");
        require_success(lt.layout_create(&x_, in, inputs, rows, linear.x.stride), "cublasLtMatrixLayoutCreate");
        require_success(lt.layout_create(&y_, out, outputs, rows, linear.y.stride), "cublasLtMatrixLayoutCreate");

        cublasLtMatmulPreference_t preference = nullptr;
        require_success(lt.preference_create(&preference), "cublasLtMatmulPreferenceCreate");
        require_success(lt.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes_,
                                          sizeof(workspace_bytes_)),
                        "cublasLtMatmulPreferenceSetAttribute");
        const std::uint32_t alignment = alignment_of(linear);
        for (const auto which : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                                 CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
            require_success(lt.preference_set(preference, which, &alignment, sizeof(alignment)),
                            "cublasLtMatmulPreferenceSetAttribute");
        }
        cublasLtMatmulHeuristicResult_t result{};
        int found = 0;
        const cublasStatus_t status = lt.heuristic(handle, operation_, weight_, x_, y_, y_, preference, 1, &result, &found);
        lt.preference_destroy(preference);
        require_success(status, "cublasLtMatmulAlgoGetHeuristic");
        if (found == 0) {
            throw KernelError("cuBLASLt knows no algorithm for this linear layer");
        }
        algorithm_ = result.algo;
    }
    Product(const Product&) = delete;
    Product& operator=(const Product&) = delete;
    ~Product() {
        library().layout_destroy(y_);
        library().layout_destroy(x_);
        library().layout_destroy(weight_);
        library().operation_destroy(operation_);
    }

    void run(cublasLtHandle_t handle, const Linear& linear, void* workspace, Queue queue) const {
        const float one = 1.0F, zero = 0.0F;
        const std::int32_t whole_one = 1, whole_zero = 0;
        const void* const alpha = sums_integers_ ? static_cast<const void*>(&whole_one) : &one;
        const void* const beta = sums_integers_ ? static_cast<const void*>(&whole_zero) : &zero;
        require_success(
            library().matmul(handle, operation_, alpha, linear.weight.data, weight_, linear.x.data, x_, beta, linear.y.data, y_,
                             linear.y.data, y_, &algorithm_, workspace, workspace_bytes_, stream_of(queue)),
            "cublasLtMatmul");
    }

private:
    cublasLtMatmulDesc_t operation_ = nullptr;
    cublasLtMatrixLayout_t weight_ = nullptr, x_ = nullptr, y_ = nullptr;
    cublasLtMatmulAlgo_t algorithm_{};
    bool sums_integers_ = false;
    std::size_t workspace_bytes_;
};

/// Everything a product's preparation depends on: dimensions, strides, types, and the alignment that an algorithm may rely on.
using Key = std::tuple<int, int, int, int, std::int64_t, std::int64_t, std::int64_t, ElementType, ElementType, std::uint32_t>;

struct Prepared {
    std::mutex mutex;
    std::map<int, cublasLtHandle_t> handles;  // by device
    std::map<int, std::size_t> workspace_bytes;
    std::map<Key, Product> products;
    std::map<std::pair<int, void*>, void*> workspaces;  // by device and queue: queues may run at the same time
};

Prepared& prepared() {
    static Prepared all;
    return all;
}

int current_device() {
    int device = 0;
    succeed(cudaGetDevice(&device), "cudaGetDevice");
    return device;
}

cublasLtHandle_t handle_of(int device) {
    cublasLtHandle_t& handle = prepared().handles[device];
    if (handle == nullptr) {
        require_success(library().create(&handle), "cublasLtCreate");
    }
    return handle;
}

std::size_t workspace_bytes_of(int device) {
    std::size_t& bytes = prepared().workspace_bytes[device];
    if (bytes == 0) {
        bytes = find_workspace_bytes();
    }
    return bytes;
}

void* workspace_of(int device, Queue queue) {
    void*& workspace = prepared().workspaces[{device, queue.stream}];
    if (workspace == nullptr) {
        succeed(cudaMalloc(&workspace, workspace_bytes_of(device)), "cudaMalloc");
    }
    return workspace;
}

}  // namespace

// Without the library linear layers fail when they are called, and everything else works.
void prepare_linear(Queue queue) {
    const std::lock_guard lock(prepared().mutex);
    const int device = current_device();
    try {
        handle_of(device);
    } catch (const KernelError&) {
        return;
    }
    workspace_of(device, queue);
}

void release_linear(Queue queue) {
    const std::lock_guard lock(prepared().mutex);
    std::erase_if(prepared().workspaces, [&](const auto& entry) {
        if (entry.first.second == queue.stream) {
            static_cast<void>(cudaFree(entry.second));
        }
        return entry.first.second == queue.stream;
    });
}

void linear(const Linear& linear, Queue queue) {
    check(linear);
    const std::lock_guard lock(prepared().mutex);
    const int device = current_device();
    const Key key{device,          linear.rows,   linear.inputs, linear.outputs,      linear.x.stride, linear.weight.stride,
                  linear.y.stride, linear.x.type, linear.y.type, alignment_of(linear)};
    auto found = prepared().products.find(key);
    if (found == prepared().products.end()) {
        found = prepared().products.try_emplace(key, handle_of(device), linear, workspace_bytes_of(device)).first;
    }
    found->second.run(handle_of(device), linear, workspace_of(device, queue), queue);
}

}  // namespace treeline::kernels::cuda
