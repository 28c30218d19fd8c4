#pragma once

namespace treeline::numerics {

struct Bracket {
    double low = 0.0, high = 0.0;

    [[nodiscard]] double middle() const { return 0.5 * (low + high); }
};

/// Where `too_low(x)` turns from true to false, by this many halvings: what is left of the bracket.
template <typename TooLow>
Bracket bisect(Bracket bracket, int halvings, const TooLow& too_low) {
    for (int i = 0; i < halvings; ++i) {
        const double middle = bracket.middle();
        (too_low(middle) ? bracket.low : bracket.high) = middle;
    }
    return bracket;
}

}  // namespace treeline::numerics
