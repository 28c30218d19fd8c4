#pragma once

/// Before a function: it is compiled for each of these instruction sets, and the best that the machine has is used.
// Sanitizers and the resolver of such a function, which runs before main, do not go together.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define TREELINE_VECTORISED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
/// Before a function that is called only where has_wide_registers().
#define TREELINE_WIDE __attribute__((target("arch=x86-64-v4")))
/// There: a vector that is used more than once is loaded once. The compiler would make it an operand in memory of each use, and
/// loads are then what binds.
#define TREELINE_KEEP_IN_REGISTER(vector) asm("" : "+v"(vector))
#else
#define TREELINE_VECTORISED
#define TREELINE_WIDE
#define TREELINE_KEEP_IN_REGISTER(vector) static_cast<void>(vector)
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
