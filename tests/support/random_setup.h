// Random valid setups: any mixture of layers on a device with random figures, drawn from bytes. For properties of the cost
// model (tests/sim/properties_test.cpp) and for fuzzing it (tests/fuzz).
#pragma once

#include <string_view>

#include "sim/round.h"

namespace treeline::testing {

/// Draws from bytes, from zeros after their end.
class Draws {
public:
    explicit Draws(std::string_view bytes) : rest_(bytes) {}

    /// 0 … most, of which the caller names at most 256 values.
    int below(int count) {
        const int drawn = rest_.empty() ? 0 : static_cast<unsigned char>(rest_.front());
        rest_.remove_prefix(rest_.empty() ? 0 : 1);
        return drawn % count;
    }
    bool flag() { return below(2) == 1; }
    /// A power of two between 2^low and 2^high.
    sim::Count power(int low, int high) { return sim::Count{1} << (low + below(high - low + 1)); }
    /// Between low and high, in 256 steps of equal ratio.
    double between(double low, double high);

private:
    std::string_view rest_;
};

struct RandomPoint {
    sim::RoundSetup setup;
    sim::DesignPoint point;
};

/// Any bytes give a point without problems_of(setup), in roofline mode.
RandomPoint random_point(std::string_view bytes);

}  // namespace treeline::testing
