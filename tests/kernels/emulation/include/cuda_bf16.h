// Stands in for the CUDA toolkit's header: rounding to bf16.
#pragma once

#include "cuda_runtime.h"
#include "kernels/element.h"

struct __nv_bfloat16 {
    unsigned short bits;
};

inline __nv_bfloat16 __float2bfloat16_rn(float value) { return {treeline::kernels::to_bf16(value).bits}; }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) { return value.bits; }
