// Stands in for the CUDA toolkit's header: rounding to bf16.
#pragma once

#include "cuda_runtime.h"
#include "kernels/element.h"

struct __nv_bfloat16 {
    unsigned short bits;
};

struct __nv_bfloat162 {
    __nv_bfloat16 x, y;
};

inline __nv_bfloat16 __float2bfloat16_rn(float value) { return {treeline::kernels::to_bf16(value).bits}; }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) { return value.bits; }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {__float2bfloat16_rn(x), __float2bfloat16_rn(y)}; }
