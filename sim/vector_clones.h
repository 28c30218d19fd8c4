// Functions that loop over many points are compiled for several instruction sets.
#pragma once

/// Before a function: on x86-64, it and what it calls (of the same file) are compiled for each of these instruction sets, and
/// which one runs is decided when the program is loaded. Every intermediate result is a double rounded once in all of them, so
/// they agree to the last bit. Sanitizers do not go together with what decides, as that runs before main.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define TREELINE_VECTOR_CLONES [[gnu::flatten, gnu::target_clones("avx512f", "avx2", "default")]]
#else
#define TREELINE_VECTOR_CLONES
#endif
