// The emulation's cuBLASLt: D = alpha op(A) op(B) + beta C, all matrices by columns, in double. It refuses what the library's
// documentation does, and algorithms that were advised for another problem.
#include <cublasLt.h>

#include <cstring>
#include <vector>

#include "cache.h"
#include "device_memory.h"
#include "kernels/reference/element_access.h"
#include "streams.h"

struct cublasLtContext {};
struct cublasLtMatmulDescOpaque_t {
    cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
    cublasOperation_t a = CUBLAS_OP_N, b = CUBLAS_OP_N;
};
struct cublasLtMatrixLayoutOpaque_t {
    cudaDataType type;
    std::uint64_t rows, columns;
    std::int64_t stride;
};
struct cublasLtMatmulPreferenceOpaque_t {
    std::uint64_t workspace_bytes = 0;
    std::uint32_t alignment[4] = {256, 256, 256, 256};  // the library's own assumption
};

namespace {

using Layout = cublasLtMatrixLayoutOpaque_t;

using treeline::kernels::ElementType;

ElementType element_type(cudaDataType type) {
    switch (type) {
        case CUDA_R_16BF:
            return ElementType::bf16;
        case CUDA_R_8F_E4M3:
            return ElementType::fp8;
        case CUDA_R_8I:
            return ElementType::int8;
        case CUDA_R_32I:
            return ElementType::int32;
        case CUDA_R_32F:
            break;
    }
    return ElementType::fp32;
}

std::size_t bytes_of(cudaDataType type) { return treeline::kernels::bytes_of(element_type(type)); }

double load(const void* matrix, const Layout& layout, bool transposed, std::uint64_t row, std::uint64_t column) {
    const std::uint64_t at = transposed ? column + row * static_cast<std::uint64_t>(layout.stride)
                                        : row + column * static_cast<std::uint64_t>(layout.stride);
    return treeline::kernels::reference::load(matrix, element_type(layout.type), static_cast<std::int64_t>(at));
}

void store(void* matrix, const Layout& layout, std::uint64_t row, std::uint64_t column, double value) {
    const std::uint64_t at = row + column * static_cast<std::uint64_t>(layout.stride);
    treeline::kernels::reference::store(matrix, element_type(layout.type), static_cast<std::int64_t>(at), value);
}

/// From the first element to the last; columns are `stride` apart, and the last need not be filled up.
std::size_t extent(const Layout& layout) {
    return ((layout.columns - 1) * static_cast<std::uint64_t>(layout.stride) + layout.rows) * bytes_of(layout.type);
}

/// op(A) of rows x depth, op(B) of depth x columns, C and D of rows x columns.
struct Problem {
    Layout a, b, c, d;
    bool a_transposed, b_transposed, sums_integers;

    [[nodiscard]] std::uint64_t depth() const { return a_transposed ? a.rows : a.columns; }
    [[nodiscard]] bool is_valid() const {
        for (const Layout* layout : {&a, &b, &c, &d}) {
            if (layout->rows == 0 || layout->columns == 0 || layout->stride < static_cast<std::int64_t>(layout->rows)) {
                return false;
            }
        }
        return (a_transposed ? a.columns : a.rows) == d.rows && (b_transposed ? b.columns : b.rows) == depth() &&
               (b_transposed ? b.rows : b.columns) == d.columns && c.rows == d.rows && c.columns == d.columns;
    }
    /// Pairs of types that the library has kernels for.
    [[nodiscard]] bool is_supported() const {
        const bool is_narrow = bytes_of(a.type) == 1;
        if (a.type != b.type || c.type != d.type || sums_integers != (a.type == CUDA_R_8I) ||
            sums_integers != (d.type == CUDA_R_32I)) {
            return false;
        }
        // 8-bit operands: A transposed and B not, and multiples of 16 but for the columns of B.
        if (is_narrow && (!a_transposed || b_transposed || depth() % 16 != 0 || d.rows % 16 != 0 || a.stride % 16 != 0 ||
                          b.stride % 16 != 0)) {
            return false;
        }
        return sums_integers || d.type == CUDA_R_32F || (a.type != CUDA_R_32F && d.type == CUDA_R_16BF);
    }
    /// What an algorithm is advised for.
    [[nodiscard]] std::uint64_t fingerprint() const {
        std::uint64_t hash = a_transposed ? 3 : 5;
        for (const Layout* layout : {&a, &b, &c, &d}) {
            for (const std::uint64_t part : {static_cast<std::uint64_t>(layout->type), layout->rows, layout->columns,
                                             static_cast<std::uint64_t>(layout->stride)}) {
                hash = (hash ^ part) * 0x9e3779b97f4a7c15U + (hash >> 29U);
            }
        }
        return hash;
    }
};

Problem problem_of(cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                   cublasLtMatrixLayout_t d) {
    return {*a, *b, *c, *d, operation->a == CUBLAS_OP_T, operation->b == CUBLAS_OP_T, operation->compute == CUBLAS_COMPUTE_32I};
}

bool is_multiple(const void* pointer, std::uint64_t alignment) {
    return reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0;
}

std::optional<std::string> multiply(const Problem& problem, float alpha, const void* a, const void* b, float beta,
                                    const void* c, void* d) {
    const auto touch = [](const void* matrix, const Layout& layout) {
        emulation::Cache::device().touch(reinterpret_cast<std::uintptr_t>(matrix), extent(layout));
    };
    touch(a, problem.a);
    touch(b, problem.b);
    touch(d, problem.d);
    const std::uint64_t depth = problem.depth();
    std::vector<double> of_a, of_b;  // the numbers that a sum runs over, next to each other
    for (std::uint64_t row = 0; row < problem.d.rows; ++row) {
        for (std::uint64_t k = 0; k < depth; ++k) {
            of_a.push_back(load(a, problem.a, problem.a_transposed, row, k));
        }
    }
    for (std::uint64_t column = 0; column < problem.d.columns; ++column) {
        of_b.clear();
        for (std::uint64_t k = 0; k < depth; ++k) {
            of_b.push_back(load(b, problem.b, problem.b_transposed, k, column));
        }
        for (std::uint64_t row = 0; row < problem.d.rows; ++row) {
            double sum = 0.0;
            for (std::uint64_t k = 0; k < depth; ++k) {
                sum += of_a[row * depth + k] * of_b[k];
            }
            const double before = beta == 0.0F ? 0.0 : static_cast<double>(beta) * load(c, problem.c, false, row, column);
            store(d, problem.d, row, column, static_cast<double>(alpha) * sum + before);
        }
    }
    return std::nullopt;
}

}  // namespace

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
    static cublasLtContext context;
    *handle = &context;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* operation, cublasComputeType_t compute, cudaDataType scale) {
    *operation = new cublasLtMatmulDescOpaque_t{compute};
    const bool is_known = compute == CUBLAS_COMPUTE_32I ? scale == CUDA_R_32I : scale == CUDA_R_32F;
    return is_known ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
    delete operation;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t bytes) {
    if (attribute == CUBLASLT_MATMUL_DESC_FAST_ACCUM) {
        return bytes == sizeof(std::int8_t) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
    }
    cublasOperation_t& which = attribute == CUBLASLT_MATMUL_DESC_TRANSA ? operation->a : operation->b;
    if (bytes != sizeof(which)) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    std::memcpy(&which, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, std::uint64_t rows,
                                          std::uint64_t columns, std::int64_t stride) {
    *layout = new Layout{type, rows, columns, stride};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
    delete layout;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
    *preference = new cublasLtMatmulPreferenceOpaque_t;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
    delete preference;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
                                                    std::size_t bytes) {
    const bool is_workspace = attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
    if (bytes != (is_workspace ? sizeof(std::uint64_t) : sizeof(std::uint32_t))) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    void* target = &preference->workspace_bytes;
    if (!is_workspace) {
        target = &preference->alignment[attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES];
    }
    std::memcpy(target, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a,
                                              cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t* results, int* found) {
    const Problem problem = problem_of(operation, a, b, c, d);
    *found = 0;
    if (handle == nullptr || wanted < 1 || !problem.is_valid()) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (!problem.is_supported()) {
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    *found = 1;
    const std::uint32_t* alignment = preference->alignment;
    *results = {{{problem.fingerprint(), alignment[0], alignment[1], alignment[2], alignment[3], preference->workspace_bytes}},
                preference->workspace_bytes};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_layout, void* d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace, std::size_t workspace_bytes,
                              cudaStream_t stream) {
    const Problem problem = problem_of(operation, a_layout, b_layout, c_layout, d_layout);
    const auto& memory = emulation::DeviceMemory::all();
    const bool advised = algorithm->data[0] == problem.fingerprint() && is_multiple(a, algorithm->data[1]) &&
                         is_multiple(b, algorithm->data[2]) && is_multiple(c, algorithm->data[3]) &&
                         is_multiple(d, algorithm->data[4]) && workspace_bytes >= algorithm->data[5];
    const bool allocated = memory.holds(a, extent(problem.a)) && memory.holds(b, extent(problem.b)) &&
                           memory.holds(c, extent(problem.c)) && memory.holds(d, extent(problem.d)) &&
                           memory.holds(workspace, workspace_bytes) && is_multiple(workspace, 256);
    if (handle == nullptr || !problem.is_valid() || !advised || !allocated) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    const auto factor = [&](const void* at) {
        return problem.sums_integers ? static_cast<float>(*static_cast<const std::int32_t*>(at))
                                     : *static_cast<const float*>(at);
    };
    const float a_factor = factor(alpha), c_factor = factor(beta);
    const cudaError_t error = emulation::put(stream, [=] { return multiply(problem, a_factor, a, b, c_factor, c, d); });
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
