// Memory of the host for weights, caches, states and activations.
#pragma once

#include <cstddef>

namespace treeline::kernels {

/// Aligned to 256 bytes; uninitialised. Large pieces lie in large pages where the system has them: small ones make kernels wait
/// for translations, and times depend on where the pages happen to lie. Throws std::bad_alloc.
void* allocate_on_host(std::size_t bytes);
/// What allocate_on_host() gave; null is fine.
void release_on_host(void* memory);

/// Memory that can be had without swapping; 0 where the system does not say.
std::size_t free_on_host();

/// Large pieces by all cores: the pages of a new piece are then made by all of them, too.
void copy_on_host(void* to, const void* from, std::size_t bytes);

}  // namespace treeline::kernels
