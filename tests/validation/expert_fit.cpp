// What is known of mixtures of experts from whole engine steps alone, all of it without speculation:
// - more_readings of kernels of experts that users pick (hardware/expert_kernels), from the plain steps of the runs in
//   ../shared/data/speculation/measured.json that name such kernels;
// - routing_skew of models (models), from how steps grow with the batch in ../shared/data/serving/silicon_tpot_moe.csv;
// - expert_pool of runs whose requests all send one prompt (validation/serving/names.json), from their plain steps.
//
// All compare steps of one deployment with each other, so that what the model errs by at all batches cancels. Exits with 77
// without the data and with 1 when a catalogue file states another number than its rows give.
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "numerics/quantile.h"
#include "requests/validate/measured_rows_reader.h"
#include "requests/validate/serving_parts.h"
#include "shared_measurements.h"
#include "source_folder.h"
#include "validation/serving/points.h"

using namespace treeline;
using namespace treeline::validation;
using namespace treeline::testing;

namespace {

double step_of(const sim::RoundSetup& setup, const MeasuredPoint& point) {
    return sim::evaluate(sim::compile_round(setup), {0, point.batch, point.context}).time_per_token.value();
}

/// A plain step of a deployment: as measured, as priced without what the kernels lose, and what one more reading costs.
struct PlainStep {
    double measured = 0.0, priced = 0.0, reading = 0.0;
};

PlainStep plain_step(const MeasuredPoint& point, double measured, const ServingParts& parts) {
    sim::RoundSetup setup = setup_of(point, parts, sim::CostMode::calibrated, 1.0 + 0.5 * draft_depth(point));
    sim::ExpertKernels& kernels = setup.platform.stack.expert_kernels;
    kernels.more_readings = 0.0;
    PlainStep step{measured, step_of(setup, point), 0.0};
    kernels.more_readings = 1.0;
    step.reading = step_of(setup, point) - step.priced;
    return step;
}

/// Series -> batch -> step, for the series that ran these kernels.
using Series = std::map<std::string, std::map<double, PlainStep>>;

Series series_of(const std::string& kernels, const std::vector<SpeculationRow>& rows, const ServingParts& parts) {
    Series result;
    for (const MeasuredPoint& point : points_of(rows, parts).points) {
        const SpeculationRow& row = rows[point.row];
        if (point.expert_kernels == kernels && row.metric == "output_tok_s" && row.value_without) {
            result[row.series][point.batch] = plain_step(point, point.batch / *row.value_without, parts);
        }
    }
    return result;
}

/// Further readings that explain each step beyond few rows, errors taken from the largest batch of few rows.
std::vector<double> readings_of(const Series& series) {
    std::vector<double> readings;
    for (const auto& [name, steps] : series) {
        const PlainStep* few = nullptr;
        for (const auto& [batch, step] : steps) {
            if (step.reading <= 0.0) {
                few = &step;
            } else if (few != nullptr) {
                readings.push_back((step.measured * few->priced / few->measured - step.priced) / step.reading);
            }
        }
    }
    return readings;
}

bool print_kernels(const std::vector<SpeculationRow>& rows, const ServingParts& parts) {
    constexpr double tolerance = 0.05;
    bool holds = true;
    fmt::print("Readings of touched experts that steps beyond few rows take more, with kernels that users pick\n");
    for (const auto& [name, kernels] : parts.expert_kernels) {
        const std::vector<double> readings = readings_of(series_of(name, rows, parts));
        if (readings.empty()) {
            fmt::print("  {:<12} no rows\n", name);
            continue;
        }
        const double median = numerics::quantile(readings, 0.5);
        holds = holds && std::abs(median / kernels.more_readings - 1.0) < tolerance;
        fmt::print("  {:<12} {:.2f} in the median of {} steps, {:.2f} to {:.2f}; stated {:.2f}\n", name, median,
                   readings.size(), numerics::quantile(readings, 0.1), numerics::quantile(readings, 0.9),
                   kernels.more_readings);
    }
    return holds;
}

/// Calls visit(mixture) for each of a model.
template <class Visit>
void for_each_mixture(sim::Model& model, Visit visit) {
    for (sim::LayerKind& kind : model.kinds) {
        for (sim::Block& block : kind.blocks) {
            if (auto* experts = std::get_if<sim::MixtureOfExperts>(&block.kind)) {
                visit(*experts);
            }
        }
    }
}

double skew_of(sim::Model model) {
    double skew = 0.0;
    for_each_mixture(model, [&](const sim::MixtureOfExperts& experts) { skew = experts.routing_skew; });
    return skew;
}

/// Mean distance of the steps' errors (natural logarithms) from the median of their deployment.
double spread(const std::vector<const MeasuredPoint*>& points, const ServingParts& parts) {
    std::map<std::string, std::vector<double>> errors;
    for (const MeasuredPoint* point : points) {
        const std::string deployment =
            fmt::format("{} {} {} {} {}", point->stack, point->device, text_of(point->cut.tensor, point->cut.parallel),
                        point->prompt_tokens, point->output_tokens);
        const sim::RoundSetup setup = setup_of(*point, parts, sim::CostMode::calibrated);
        errors[deployment].push_back(std::log(step_of(setup, *point) / point->measured));
    }
    double sum = 0.0, count = 0.0;
    for (const auto& [deployment, of_one] : errors) {
        const double middle = numerics::quantile(of_one, 0.5);
        for (const double error : of_one) {
            sum += std::abs(error - middle);
            count += of_one.size() > 1 ? 1.0 : 0.0;
        }
    }
    return count > 0.0 ? sum / count : 0.0;
}

/// Plain steps of runs whose requests all send one prompt, by the share of the experts that they choose from.
bool print_pools(const std::vector<SpeculationRow>& rows, const ServingParts& parts) {
    constexpr std::array pools = {1.0, 0.8, 0.7, 0.65, 0.6, 0.55, 0.5, 0.4};
    constexpr double worse_than_best = 1.1;
    std::map<std::string, std::map<std::string, std::vector<MeasuredPoint>>> by_model;  // and by series
    double stated = 1.0;
    for (MeasuredPoint& point : points_of(rows, parts).points) {
        const SpeculationRow& row = rows[point.row];
        if (point.expert_pool < 1.0 && row.metric == "output_tok_s" && row.value_without) {
            stated = point.expert_pool;
            point.measured = point.batch / *row.value_without;
            by_model[fmt::format("{} {}", point.model, point.stack)][row.series].push_back(std::move(point));
        }
    }
    fmt::print(
        "\nThe same of plain steps whose requests all send one prompt, by the share of experts that they choose from\n"
        "  {:<30} steps",
        "");
    for (const double pool : pools) {
        fmt::print("  {:>5.2f}", pool);
    }
    std::map<double, double> sums;
    double steps = 0.0;
    for (auto& [name, by_series] : by_model) {
        std::size_t count = 0;
        for (const auto& [series, points] : by_series) {
            count += points.size();
        }
        fmt::print("\n  {:<30} {:>5}", name, count);
        steps += static_cast<double>(count);
        for (const double pool : pools) {
            std::vector<double> distances;
            for (auto& [series, points] : by_series) {
                std::vector<double> errors;
                for (MeasuredPoint& point : points) {
                    point.expert_pool = pool;
                    const sim::RoundSetup setup = setup_of(point, parts, sim::CostMode::calibrated, 1.0);
                    errors.push_back(std::log(step_of(setup, point) / point.measured));
                }
                const double middle = numerics::quantile(errors, 0.5);
                for (const double error : errors) {
                    distances.push_back(std::abs(error - middle));
                }
            }
            const double sum = std::accumulate(distances.begin(), distances.end(), 0.0);
            sums[pool] += sum;
            fmt::print("  {:>4.1f}%", 100.0 * sum / static_cast<double>(count));
        }
    }
    double best = sums.begin()->first;
    for (const auto& [pool, sum] : sums) {
        best = sum < sums.at(best) ? pool : best;
    }
    fmt::print(
        "\n  best over all {:.0f} steps: {:.2f}, stated {:.2f}; mean distance {:.1f} % if they chose from all, {:.1f} % as "
        "stated\n",
        steps, best, stated, 100.0 * sums.at(1.0) / steps, 100.0 * sums.at(stated) / steps);
    return sums.at(stated) <= worse_than_best * sums.at(best);
}

bool print_skews(const std::vector<ServingRun>& runs, ServingParts parts) {
    constexpr std::array skews = {0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 1.0};
    constexpr std::size_t fewest = 20;
    constexpr double worth_stating = 0.95;  // of the spread under uniform routing
    const std::vector<MeasuredPoint> points = points_of(runs, parts).points;
    std::map<std::string, std::vector<const MeasuredPoint*>> by_model;
    for (const MeasuredPoint& point : points) {
        by_model[point.model].push_back(&point);
    }
    fmt::print(
        "\nMean distance of errors from their deployment's median, by exponent of the experts' popularity\n  {:<18} runs", "");
    for (const double skew : skews) {
        fmt::print("  {:>5.1f}", skew);
    }
    fmt::print("  stated\n");
    bool holds = true;
    for (const auto& [name, of_model] : by_model) {
        if (of_model.size() < fewest) {
            continue;
        }
        sim::Model& model = parts.models.at(name);
        const std::vector<const MeasuredPoint*>& scored = of_model;  // a lambda cannot capture a structured binding
        const auto spread_at = [&](double skew) {
            for_each_mixture(model, [&](sim::MixtureOfExperts& experts) { experts.routing_skew = skew; });
            return spread(scored, parts);
        };
        const double stated = skew_of(model);
        fmt::print("  {:<18} {:>4}", name, of_model.size());
        for (const double skew : skews) {
            fmt::print("  {:>4.1f}%", 100.0 * spread_at(skew));
        }
        fmt::print("  {:>6.1f}\n", stated);
        holds = holds && (stated == 0.0 || spread_at(stated) < worth_stating * spread_at(0.0));
    }
    return holds;
}

}  // namespace

int main() {
    const auto rows = shared_measurements("data/speculation/measured.json"),
               runs = shared_measurements("data/serving/silicon_tpot_moe.csv");
    if (!rows || !runs) {
        return skipped_exit_code;
    }
    std::vector<std::string> notes;
    const ServingParts parts =
        requests::read_serving_parts(requests::catalogue_in(source_folder(), "this checkout"), {}, notes);
    const std::vector<SpeculationRow> speculative = requests::read_speculation_rows(*rows, notes);
    const bool kernels_hold = print_kernels(speculative, parts);
    const bool skews_hold = print_skews(requests::read_serving_rows(*runs, notes), parts);
    const bool pool_holds = print_pools(speculative, parts);
    return kernels_hold && skews_hold && pool_holds ? 0 : 1;
}
