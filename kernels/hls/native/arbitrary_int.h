// Integers of any width up to 64 bits for native builds: the part of Vitis' ap_int.h that the kernels use. Values wrap at their
// width (two's complement), as in hardware; expressions are computed in 64 bits, so no intermediate of the kernels may need
// more.
#pragma once

#include <cstdint>

template <int Width, bool Signed>
class ap_int_base {
    static_assert(Width >= 1 && Width <= 63);

public:
    constexpr ap_int_base() = default;
    constexpr ap_int_base(std::int64_t value) : value_(wrapped(value)) {}
    template <int OtherWidth, bool OtherSigned>
    constexpr ap_int_base(ap_int_base<OtherWidth, OtherSigned> other) : ap_int_base(static_cast<std::int64_t>(other)) {}
    constexpr operator std::int64_t() const { return value_; }

private:
    static constexpr std::int64_t wrapped(std::int64_t value) {
        const auto shifted = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << (64 - Width));
        return Signed ? shifted >> (64 - Width)
                      : static_cast<std::int64_t>(static_cast<std::uint64_t>(shifted) >> (64 - Width));
    }

    std::int64_t value_ = 0;
};

template <int Width>
using ap_int = ap_int_base<Width, true>;
template <int Width>
using ap_uint = ap_int_base<Width, false>;
