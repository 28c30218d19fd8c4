// std::bit_cast, which libc++ has since LLVM 14 only (Debian 12's Emscripten brings 13).
#pragma once

#include <type_traits>

namespace treeline::numerics {

template <typename To, typename From>
constexpr To bit_cast(const From& from) {
    static_assert(sizeof(To) == sizeof(From) && std::is_trivially_copyable_v<To> && std::is_trivially_copyable_v<From>);
    return __builtin_bit_cast(To, from);
}

}  // namespace treeline::numerics
