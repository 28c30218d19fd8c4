// The one instruction of tensor cores that kernels use.
#pragma once

namespace treeline::kernels::cuda {

/// sum += a b for a warp, whose threads must all be here: a is 16 x 16 and b 16 x 8, in bf16; sum is 16 x 8, in fp32. Who holds
/// what is the fragment layout of mma.m16n8k16 (PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type"): with
/// group = lane / 4 and quad = lane % 4, the thread's words hold
///     a[0], a[2]      row group, columns 2 quad and 2 quad + 1; the same columns + 8
///     a[1], a[3]      likewise of row group + 8
///     b[0], b[1]      column group, rows 2 quad and 2 quad + 1; the same rows + 8
///     sum[0], sum[1]  row group, columns 2 quad and 2 quad + 1
///     sum[2], sum[3]  likewise of row group + 8
/// The lower half of a word comes first.
__device__ inline void multiply_add(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

}  // namespace treeline::kernels::cuda
