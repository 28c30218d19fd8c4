#pragma once

/// Before a function: it is compiled for each of these instruction sets, and the best that the machine has is used.
// Sanitizers and the resolver of such a function, which runs before main, do not go together.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define TREELINE_VECTORISED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TREELINE_VECTORISED
#endif
