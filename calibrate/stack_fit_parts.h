// Internal to fit_stack(): which numbers are free, and their values, on steps whose times are linear in them.
#pragma once

#include <optional>
#include <vector>

namespace treeline::calibrate::stack_fit {

/// A number that may be free.
struct Candidate {
    double before = 0.0, low = 0.0, high = 0.0;
    double spread = 0.0;  ///< standard deviation over deployments of the same stack, as far as one can say
};

/// A measured step: time(x) = before + Σ slopes[j]·(x[j] − candidates[j].before).
struct LinearStep {
    double measured = 0.0, before = 0.0;
    std::vector<double> slopes;  ///< one for each candidate
    int group = 0;               ///< steps of one group are left out together
};

struct Problem {
    std::vector<Candidate> candidates;
    std::vector<LinearStep> steps;
};

/// Values of all candidates; those that are not free keep theirs. Standard errors are 0 for them, and if no step is left over.
struct Solution {
    std::vector<std::size_t> free;
    std::vector<double> values, standard_errors;
    double degrees_of_freedom = 0.0;
};

/// Time of the step with these values.
double time_of(const Problem& problem, const LinearStep& step, const std::vector<double>& values);

/// Robust least squares of relative errors, within the bounds. Nothing if the steps do not determine the free numbers.
std::optional<Solution> fit(const Problem& problem, const std::vector<LinearStep>& steps, const std::vector<std::size_t>& free);

/// The fit whose free numbers predict left-out groups best; a further number must lower that error by a tenth.
Solution chosen_fit(const Problem& problem, const std::vector<LinearStep>& steps, std::size_t most_free);

/// All numbers free, each drawn to what it was before as strongly as it varies little over deployments: for fewer steps than
/// could choose among them. A deployment whose steps are still missed by more than 3 % differs more than others do: then all
/// numbers may move further, as far as it takes.
Solution shrunk_fit(const Problem& problem, const std::vector<LinearStep>& steps);

}  // namespace treeline::calibrate::stack_fit
