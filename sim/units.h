// Physical quantities as types: a number with a unit cannot be added to one with another unit.
//
// A Quantity holds a double in base units (byte, FLOP, second, joule, dollar) and carries the exponents of those units in its
// type. Products and quotients combine exponents; a result without units is a plain double. The wrapper costs nothing at run
// time.
#pragma once

#include <compare>

namespace treeline {

template <int Byte, int Flop, int Second, int Joule, int Dollar>
class Quantity {
public:
    constexpr Quantity() = default;
    constexpr explicit Quantity(double base_units) : value_(base_units) {}

    /// The number in base units. For leaving the typed world (printing, talking to another system), not for dodging the types.
    [[nodiscard]] constexpr double value() const { return value_; }

    constexpr Quantity& operator+=(Quantity other) {
        value_ += other.value_;
        return *this;
    }
    constexpr Quantity& operator-=(Quantity other) {
        value_ -= other.value_;
        return *this;
    }
    constexpr Quantity& operator*=(double factor) {
        value_ *= factor;
        return *this;
    }

    friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value_ + b.value_); }
    friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value_ - b.value_); }
    friend constexpr Quantity operator-(Quantity a) { return Quantity(-a.value_); }
    friend constexpr Quantity operator*(Quantity a, double b) { return Quantity(a.value_ * b); }
    friend constexpr Quantity operator*(double a, Quantity b) { return Quantity(a * b.value_); }
    friend constexpr Quantity operator/(Quantity a, double b) { return Quantity(a.value_ / b); }
    // clang-tidy 14 takes the literal 0 of a defaulted comparison for a null pointer.
    friend constexpr auto operator<=>(Quantity, Quantity) = default;  // NOLINT(modernize-use-nullptr)

private:
    double value_ = 0.0;
};

namespace detail {
template <int B, int F, int S, int J, int D>
constexpr auto make_quantity(double value) {
    if constexpr (B == 0 && F == 0 && S == 0 && J == 0 && D == 0) {
        return value;
    } else {
        return Quantity<B, F, S, J, D>(value);
    }
}
}  // namespace detail

template <int B1, int F1, int S1, int J1, int D1, int B2, int F2, int S2, int J2, int D2>
constexpr auto operator*(Quantity<B1, F1, S1, J1, D1> a, Quantity<B2, F2, S2, J2, D2> b) {
    return detail::make_quantity<B1 + B2, F1 + F2, S1 + S2, J1 + J2, D1 + D2>(a.value() * b.value());
}

template <int B1, int F1, int S1, int J1, int D1, int B2, int F2, int S2, int J2, int D2>
constexpr auto operator/(Quantity<B1, F1, S1, J1, D1> a, Quantity<B2, F2, S2, J2, D2> b) {
    return detail::make_quantity<B1 - B2, F1 - F2, S1 - S2, J1 - J2, D1 - D2>(a.value() / b.value());
}

template <int B, int F, int S, int J, int D>
constexpr auto operator/(double a, Quantity<B, F, S, J, D> b) {
    return detail::make_quantity<-B, -F, -S, -J, -D>(a / b.value());
}

using Bytes = Quantity<1, 0, 0, 0, 0>;
using Flops = Quantity<0, 1, 0, 0, 0>;
using Seconds = Quantity<0, 0, 1, 0, 0>;
using Joules = Quantity<0, 0, 0, 1, 0>;
using Dollars = Quantity<0, 0, 0, 0, 1>;

using BytesPerSecond = Quantity<1, 0, -1, 0, 0>;
using FlopsPerSecond = Quantity<0, 1, -1, 0, 0>;
using SecondsPerByte = Quantity<-1, 0, 1, 0, 0>;
using SecondsPerFlop = Quantity<0, -1, 1, 0, 0>;
using Watts = Quantity<0, 0, -1, 1, 0>;
using JoulesPerByte = Quantity<-1, 0, 0, 1, 0>;
using JoulesPerFlop = Quantity<0, -1, 0, 1, 0>;
using DollarsPerSecond = Quantity<0, 0, -1, 0, 1>;
using FlopsPerByte = Quantity<-1, 1, 0, 0, 0>;

}  // namespace treeline
