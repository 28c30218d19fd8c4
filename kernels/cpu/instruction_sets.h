#pragma once

/// Before a function: it is compiled for each of these instruction sets, and the best that the machine has is used.
// Sanitizers and the resolver of such a function, which runs before main, do not go together.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define TREELINE_VECTORISED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TREELINE_VECTORISED
#endif

namespace treeline::kernels::cpu {

/// Whether such a function has 32 registers of 16 floats each; else tiles are chosen for 16 registers of 8.
inline bool has_wide_registers() {
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
    static const bool result = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return result;
#else
    return false;
#endif
}

}  // namespace treeline::kernels::cpu
