// How well do three measured batches of a deployment predict its other batches?
//
// Reads ../shared/data/serving/silicon_tpot.csv (end-to-end runs of vLLM, SGLang and TensorRT-LLM without speculation, from
// ai-dynamo/aiconfigurator). Each engine, version, model, device, precision, length and degree of parallelism is a deployment
// of its own. A stack is fitted to three of its batches, as a user would with `treeline calibrate --serving`, and predicts the
// others: between them (fitted to the smallest, a middle and the largest) and beyond them (fitted to the three smallest).
// Calibrated mode, all answer lengths, prompts of other requests included.
//
// Exits with 77 without the data and with 1 when a goal below is missed.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "calibrate/stack_fit.h"
#include "numerics/quantile.h"
#include "serving_rows.h"
#include "shared_measurements.h"

using namespace treeline;
using namespace treeline::testing;

namespace {

constexpr double goal_between = 0.03;  ///< median error of batches between those that were fitted
constexpr double goal_beyond = 0.06;   ///< and of those beyond

/// Steps of one deployment by batch; of repeated batches, the first.
using Deployment = std::map<double, calibrate::MeasuredStep>;

std::map<std::string, Deployment> deployments_of(const std::vector<ServingRow>& rows) {
    std::map<std::string, Deployment> deployments;
    for (const ServingRow& row : rows) {
        if (!usable(row)) {
            continue;
        }
        calibrate::MeasuredStep step;
        step.setup = setup_of(row, sim::CostMode::calibrated);
        step.point = point_of(row);
        step.time = Seconds(1e-3 * row.tpot_ms);
        const std::string name = fmt::format("{} {} {} {} {} {}/{} tp {}", row.backend, row.version, row.model, row.system,
                                             row.precision, row.isl, row.osl, row.ranks);
        deployments[name].emplace(step.point.batch, step);
    }
    std::erase_if(deployments, [](const auto& deployment) { return deployment.second.size() < 4; });
    return deployments;
}

struct Errors {
    std::vector<double> before, fitted;  ///< |predicted / measured − 1|
};

/// Fits to the steps numbered so, by rising batch, and predicts the others.
void predict(const Deployment& deployment, const std::vector<std::size_t>& fitted_to, Errors& errors) {
    std::vector<calibrate::MeasuredStep> seen, unseen;
    std::size_t number = 0;
    for (const auto& [batch, step] : deployment) {
        const bool is_seen = std::find(fitted_to.begin(), fitted_to.end(), number++) != fitted_to.end();
        (is_seen ? seen : unseen).push_back(step);
    }
    const sim::Stack stack = calibrate::fit_stack(seen).stack;
    for (const calibrate::MeasuredStep& step : unseen) {
        errors.before.push_back(std::abs(calibrate::predicted_time(step, step.setup.platform.stack) / step.time - 1.0));
        errors.fitted.push_back(std::abs(calibrate::predicted_time(step, stack) / step.time - 1.0));
    }
}

void print(const char* name, const Errors& errors) {
    fmt::print("{:<40} {:>4} rows   median {:>5.1f} % with the stack, {:>5.1f} % fitted   p90 {:>5.1f} %, {:>5.1f} %\n", name,
               errors.before.size(), 100.0 * numerics::quantile(errors.before, 0.5),
               100.0 * numerics::quantile(errors.fitted, 0.5), 100.0 * numerics::quantile(errors.before, 0.9),
               100.0 * numerics::quantile(errors.fitted, 0.9));
}

}  // namespace

int main() {
    const auto path = shared_measurements("data/serving/silicon_tpot.csv");
    if (!path) {
        return skipped_exit_code;
    }
    const std::map<std::string, Deployment> deployments = deployments_of(read_serving_rows(*path));
    Errors between, beyond;
    for (const auto& [name, deployment] : deployments) {
        const std::size_t last = deployment.size() - 1;
        predict(deployment, {0, last / 2, last}, between);
        predict(deployment, {0, 1, 2}, beyond);
    }
    fmt::print("{} deployments of four batches or more, fitted to three of them\n", deployments.size());
    print("batches between those fitted", between);
    print("batches beyond those fitted", beyond);
    return numerics::quantile(between.fitted, 0.5) <= goal_between && numerics::quantile(beyond.fitted, 0.5) <= goal_beyond ? 0
                                                                                                                            : 1;
}
