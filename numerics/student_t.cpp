// Eigen has the incomplete beta function. Boost.Math has the quantile itself, but Debian's package brings all of Boost's
// headers (138 MB).
#include "numerics/student_t.h"

#include <unsupported/Eigen/SpecialFunctions>

#include "numerics/bisection.h"

namespace treeline::numerics {

// P(|T| ≤ t) = 1 − I_x(ν/2, 1/2) with x = ν/(ν + t²) (Abramowitz and Stegun 26.7.1 and 26.5.27).
double student_t_within(double t, double degrees_of_freedom) {
    using Scalar = Eigen::Array<double, 1, 1>;
    const Scalar a(degrees_of_freedom / 2.0), b(0.5), x(degrees_of_freedom / (degrees_of_freedom + t * t));
    const Scalar tails = Eigen::betainc(a, b, x);
    return 1.0 - tails(0);
}

double student_t(double confidence, double degrees_of_freedom) {
    const auto too_low = [&](double t) { return student_t_within(t, degrees_of_freedom) < confidence; };
    double high = 1.0;
    while (too_low(high) && high < 1e12) {
        high *= 2.0;
    }
    return bisect({0.0, high}, 100, too_low).middle();
}

}  // namespace treeline::numerics
