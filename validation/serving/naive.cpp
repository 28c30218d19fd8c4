#include "validation/serving/naive.h"

#include "numerics/quantile.h"

namespace treeline::validation {

double StepCostTable::cost(const std::string& family, const std::string& draft, const std::string& batch) const {
    std::vector<double> of_both, of_draft, all;
    for (const StepCostRow& row : rows_) {
        if (row.family == family) {
            continue;
        }
        const double cost = row.accept_length / row.speed_up;
        all.push_back(cost);
        if (row.draft == draft) {
            of_draft.push_back(cost);
            if (row.batch == batch) {
                of_both.push_back(cost);
            }
        }
    }
    const std::vector<double>& best = !of_both.empty() ? of_both : !of_draft.empty() ? of_draft : all;
    return best.empty() ? 1.0 : numerics::quantile(best, 0.5);
}

}  // namespace treeline::validation
