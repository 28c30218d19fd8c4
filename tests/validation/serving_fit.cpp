// How well do three measured batches of a deployment predict its other batches?
//
// Reads ../shared/data/serving/silicon_tpot.csv (end-to-end runs of vLLM, SGLang and TensorRT-LLM without speculation, from
// ai-dynamo/aiconfigurator). Each engine, version, model, device, precision, length and degree of parallelism is a deployment
// of its own. A stack is fitted to three of its batches, as a user would with `treeline calibrate --serving`, and predicts the
// others: between them (fitted to the smallest, a middle and the largest) and beyond them (fitted to the three smallest).
// Rows are read and left out as by `treeline validate --serving`. Calibrated mode, all answer lengths, prompts of other
// requests included. Then the same with the batches nearest to 1, 8 and 32, as `treeline calibrate --runs` would be given, on
// dense models and on mixtures (silicon_tpot_moe.csv). And one step alone: which share of its error the others have
// (sim::error_shared_by_deployment).
//
// Exits with 77 without the data and with 1 when a goal below is missed or another share is much better.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>

#include "calibrate/stack_fit.h"
#include "numerics/quantile.h"
#include "requests/validate/measured_rows_reader.h"
#include "requests/validate/serving_parts.h"
#include "shared_measurements.h"
#include "source_folder.h"
#include "validation/serving/points.h"

using namespace treeline;
using namespace treeline::testing;
using namespace treeline::validation;

namespace {

constexpr double goal_between = 0.03;  ///< median error of batches between those that were fitted
constexpr double goal_beyond = 0.06;   ///< and of those beyond

/// Steps of one deployment by batch; of repeated batches, the first.
using Deployment = std::map<double, calibrate::MeasuredStep>;

std::map<std::string, Deployment> deployments_of(const std::filesystem::path& path, const ServingParts& parts) {
    std::vector<std::string> notes;
    const std::vector<ServingRun> runs = requests::read_serving_rows(path, notes);
    std::map<std::string, Deployment> deployments;
    for (const MeasuredPoint& point : points_of(runs, parts).points) {
        const ServingRun& run = runs[point.row];
        calibrate::MeasuredStep step;
        step.setup = setup_of(point, parts, sim::CostMode::calibrated);
        step.point = {0, point.batch, point.context};
        step.time = Seconds(point.measured);
        const std::string name =
            fmt::format("{} {} {} {} {} {}/{} {}", run.engine, run.engine_version, run.model, run.device, run.format,
                        run.prompt_tokens, run.output_tokens, text_of(point.cut.tensor, point.cut.parallel));
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

/// The numbers of the batches nearest to 1, 8 and 32, by ratio; fewer than three where two are the same.
std::set<std::size_t> near_1_8_32(const Deployment& deployment) {
    std::set<std::size_t> chosen;
    for (const double wanted : {1.0, 8.0, 32.0}) {
        std::size_t number = 0, nearest = 0;
        double least = sim::unlimited;
        for (const auto& [batch, step] : deployment) {
            const double off = std::abs(std::log(batch / wanted));
            nearest = off < least ? number : nearest;
            least = std::min(least, off);
            ++number;
        }
        chosen.insert(nearest);
    }
    return chosen;
}

/// Three rows of a user's own deployment: what they leave of the errors elsewhere.
void print_left(const char* name, const std::map<std::string, Deployment>& deployments) {
    Errors errors;
    int used = 0;
    for (const auto& [deployment_name, deployment] : deployments) {
        const std::set<std::size_t> chosen = near_1_8_32(deployment);
        if (chosen.size() == 3) {
            predict(deployment, {chosen.begin(), chosen.end()}, errors);
            ++used;
        }
    }
    if (!errors.before.empty()) {
        print(name, errors);
        fmt::print("{:<40} {} deployments; {:.2f} of the median error and {:.2f} of the p90 are left\n", "", used,
                   numerics::quantile(errors.fitted, 0.5) / numerics::quantile(errors.before, 0.5),
                   numerics::quantile(errors.fitted, 0.9) / numerics::quantile(errors.before, 0.9));
    }
}

/// Errors where one step, of the batch in the middle, is known, and its share of the error is taken off the others.
std::vector<double> errors_with_one(const std::map<std::string, Deployment>& deployments, double share) {
    std::vector<double> errors;
    for (const auto& [name, deployment] : deployments) {
        const auto known = std::next(deployment.begin(), static_cast<std::ptrdiff_t>(deployment.size() / 2));
        const auto modelled = [](const calibrate::MeasuredStep& step) {
            return calibrate::predicted_time(step, step.setup.platform.stack);
        };
        const double factor = sim::time_factor_of(known->second.time, modelled(known->second), share);
        for (auto step = deployment.begin(); step != deployment.end(); ++step) {
            if (step != known) {
                errors.push_back(std::abs(factor * modelled(step->second) / step->second.time - 1.0));
            }
        }
    }
    return errors;
}

/// True where no share is much better than the one that a stack fitted to one step takes.
bool print_shares(const char* name, const std::map<std::string, Deployment>& deployments) {
    constexpr double worse_than_best = 1.1;
    fmt::print("{} deployments of {}, one step known: median and p90 by the share of its error that others have\n ",
               deployments.size(), name);
    double least = sim::unlimited;
    const auto error_at = [&](double share) {
        const std::vector<double> errors = errors_with_one(deployments, share);
        fmt::print("  {:.1f}: {:.1f}, {:.1f} %", share, 100.0 * numerics::quantile(errors, 0.5),
                   100.0 * numerics::quantile(errors, 0.9));
        return numerics::quantile(errors, 0.5) + numerics::quantile(errors, 0.9);
    };
    for (const double share : {0.0, 0.3, 0.5, 0.6, 0.8, 0.9, 1.0}) {
        least = std::min(least, error_at(share));
    }
    fmt::print("\n  stated");
    const double stated = error_at(sim::error_shared_by_deployment);
    fmt::print("\n");
    return stated <= worse_than_best * least;
}

}  // namespace

int main() {
    const auto path = shared_measurements("data/serving/silicon_tpot.csv");
    if (!path) {
        return skipped_exit_code;
    }
    std::vector<std::string> notes;
    const ServingParts parts =
        requests::read_serving_parts(requests::catalogue_in(source_folder(), "this checkout"), {}, notes);
    const std::map<std::string, Deployment> deployments = deployments_of(*path, parts);
    Errors between, beyond;
    for (const auto& [name, deployment] : deployments) {
        const std::size_t last = deployment.size() - 1;
        predict(deployment, {0, last / 2, last}, between);
        predict(deployment, {0, 1, 2}, beyond);
    }
    fmt::print("{} deployments of four batches or more, fitted to three of them\n", deployments.size());
    print("batches between those fitted", between);
    print("batches beyond those fitted", beyond);
    print_left("dense, fitted near batch 1, 8 and 32", deployments);
    bool shares_hold = print_shares("dense models", deployments);
    if (const auto path_of_mixtures = shared_measurements("data/serving/silicon_tpot_moe.csv")) {
        const std::map<std::string, Deployment> mixtures = deployments_of(*path_of_mixtures, parts);
        print_left("mixtures, fitted near batch 1, 8 and 32", mixtures);
        shares_hold = print_shares("mixtures", mixtures) && shares_hold;
    }
    const bool goals_met =
        numerics::quantile(between.fitted, 0.5) <= goal_between && numerics::quantile(beyond.fitted, 0.5) <= goal_beyond;
    return goals_met && shares_hold ? 0 : 1;
}
