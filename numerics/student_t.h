#pragma once

namespace treeline::numerics {

/// P(|T| ≤ t) for Student's distribution with `degrees_of_freedom` > 0, and t ≥ 0.
double student_t_within(double t, double degrees_of_freedom);

/// Its inverse, the two-sided quantile: the t with P(|T| ≤ t) = `confidence` (above 0, below 1).
double student_t(double confidence, double degrees_of_freedom);

}  // namespace treeline::numerics
