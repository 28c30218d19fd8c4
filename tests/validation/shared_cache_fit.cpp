// What vLLM's builds for RTX PRO 6000 add where ranks share cached tokens, where requests share a prompt and where rounds
// verify, from the runs of Kimi-K2.6, GLM-5.1 and Qwen3.5-397B in ../shared/data/speculation/measured.json:
// - what vLLM's own all-reduces take over PCIe (`own_all_reduces` of hardware/gpu/rtx-pro-6000.json), from plain steps alone: a
//   step of one build, predicted from the measured one of another build that leaves them to NCCL;
// - what all-gathers and reduce-scatters take over PCIe (`gather` of hardware/gpu/rtx-pro-6000.json), from plain steps alone: a
//   step with the cache shared, predicted from the measured one without, so that all other errors cancel;
// - what reading a prefix that all requests share takes after the first of them (shared_prefix_read of
//   hardware/stacks/vllm-0.14.json), in the same way: a step with a long prompt from the measured one without;
// - host_per_shared_layer and per_sparse_token (hardware/stacks/vllm-sm120.json), from speed-ups, with the accept length as
//   given and as fitted at the smallest batch of each series.
//
// All are searched on a grid. Exits with 77 without the data and with 1 when the files state numbers that are worse than the
// best of the grid by more than a twentieth.
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "requests/validate/measured_rows_reader.h"
#include "requests/validate/serving_parts.h"
#include "shared_measurements.h"
#include "source_folder.h"
#include "validation/serving/predict.h"

using namespace treeline;
using namespace treeline::validation;
using namespace treeline::testing;

namespace {

const std::string device = "rtx-pro-6000", stack = "vllm-sm120";
constexpr double worse_than_best = 1.05;

/// One number of the grid: how it is set, the values to try, what the files state.
struct Axis {
    const char* name;
    std::vector<double> values;
    std::function<void(ServingParts&, double)> set;
    double stated = 0.0;
};

double mean_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

using Score = std::function<double(const ServingParts&)>;

void set_all(ServingParts& parts, const std::vector<Axis>& axes, const std::vector<double>& values) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
        axes[i].set(parts, values[i]);
    }
}

/// One axis after the other, from what is stated, until nothing changes.
std::vector<double> best_of(ServingParts parts, const std::vector<Axis>& axes, const Score& score) {
    std::vector<double> best;
    for (const Axis& axis : axes) {
        best.push_back(axis.stated);
    }
    set_all(parts, axes, best);
    double least = score(parts);
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = 0; i < axes.size(); ++i) {
            for (const double value : axes[i].values) {
                axes[i].set(parts, value);
                const double at = score(parts);
                if (at < least) {
                    least = at;
                    best[i] = value;
                    changed = true;
                }
            }
            axes[i].set(parts, best[i]);
        }
    }
    return best;
}

/// Prints the best values beside those stated, and says whether the latter are about as good.
bool print_fit(const ServingParts& parts, const std::vector<Axis>& axes, const Score& score) {
    const std::vector<double> best = best_of(parts, axes, score);
    ServingParts at_best = parts;
    set_all(at_best, axes, best);
    const double least = score(at_best), stated = score(parts);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        fmt::print("  {:<32} {:>6.4g}   stated {:.4g}\n", axes[i].name, best[i], axes[i].stated);
    }
    fmt::print("  mean error {:.1f} %, with what is stated {:.1f} %\n", 100.0 * least, 100.0 * stated);
    return stated <= worse_than_best * least;
}

double plain_step(const MeasuredPoint& point, const ServingParts& parts) {
    const sim::RoundSetup setup = setup_of(point, parts, sim::CostMode::calibrated, 1.0);
    return sim::evaluate(sim::compile_round(setup), {0, point.batch, point.context}).time_per_token.value();
}

/// A plain step of a deployment that shares something (cached tokens among ranks, a prompt among requests), and one of the same
/// batch that does not.
struct SharedStep {
    MeasuredPoint shared, alone;
    double measured = 0.0, measured_alone = 0.0;
};

std::vector<SharedStep> shared_steps(const std::vector<SpeculationRow>& rows, const std::vector<MeasuredPoint>& points) {
    constexpr double short_context = 1000.0;  // the exchanges do not grow with it, errors of attention would
    const auto is_plain_rate = [&](const MeasuredPoint& point) {
        return point.stack == stack && point.context < short_context && rows[point.row].metric == "output_tok_s" &&
               rows[point.row].value_without;
    };
    const auto deployment = [&](const MeasuredPoint& point) {
        return fmt::format("{} {} {}", point.model, rows[point.row].engine_version, point.batch);
    };
    std::map<std::string, const MeasuredPoint*> alone;
    for (const MeasuredPoint& point : points) {
        if (is_plain_rate(point) && point.cut.parallel.context <= 1.0) {
            alone[deployment(point)] = &point;
        }
    }
    std::vector<SharedStep> steps;
    for (const MeasuredPoint& point : points) {
        if (is_plain_rate(point) && point.cut.parallel.context > 1.0 && alone.contains(deployment(point))) {
            const MeasuredPoint& other = *alone.at(deployment(point));
            steps.push_back(
                {point, other, point.batch / *rows[point.row].value_without, other.batch / *rows[other.row].value_without});
        }
    }
    return steps;
}

/// Misses of the steps that share something, predicted from the measured ones that do not.
std::vector<double> errors_of(const std::vector<const SharedStep*>& steps, const ServingParts& parts) {
    std::vector<double> errors;
    for (const SharedStep* step : steps) {
        const double adds = plain_step(step->shared, parts) - plain_step(step->alone, parts);
        errors.push_back(std::abs(std::log((step->measured_alone + adds) / step->measured)));
    }
    return errors;
}

/// Plain steps of builds that differ in their all-reduces: `alone` is of the one that leaves all but the smallest to NCCL.
std::vector<SharedStep> all_reduce_steps(const std::vector<SpeculationRow>& rows, const std::vector<MeasuredPoint>& points) {
    const std::string nccl = "pcie-vllm-56k";
    const auto counts = [&](const MeasuredPoint& point) {
        return point.model == "kimi-k2.6" && point.stack == stack && rows[point.row].metric == "output_tok_s" &&
               rows[point.row].value_without;
    };
    const auto deployment = [](const MeasuredPoint& point) {
        return fmt::format("{} {} {}", point.cut.parallel.context, point.prompt_tokens, point.batch);
    };
    std::map<std::string, const MeasuredPoint*> alone;
    for (const MeasuredPoint& point : points) {
        if (counts(point) && point.interconnect == nccl) {
            alone[deployment(point)] = &point;
        }
    }
    std::vector<SharedStep> steps;
    for (const MeasuredPoint& point : points) {
        if (counts(point) && point.interconnect.starts_with("pcie-vllm") && point.interconnect != nccl &&
            alone.contains(deployment(point))) {
            const MeasuredPoint& other = *alone.at(deployment(point));
            steps.push_back(
                {point, other, point.batch / *rows[point.row].value_without, other.batch / *rows[other.row].value_without});
        }
    }
    return steps;
}

bool print_all_reduces(const std::vector<SharedStep>& steps, const ServingParts& parts) {
    using sim::OwnAllReduce;
    const OwnAllReduce stated = parts.devices.at(device).interconnects.back().own;
    const auto set = [](auto change) {
        return [change](ServingParts& of, double value) {
            for (sim::Interconnect& link : of.devices.at(device).interconnects) {
                if (link.name.starts_with("pcie-vllm")) {
                    change(link.own, value);
                }
            }
        };
    };
    const auto to_two_steps = [](auto change) {
        return [change](OwnAllReduce& of, double value) {
            if (of.two_step_bandwidth > BytesPerSecond(0.0)) {
                change(of, value);
            }
        };
    };
    const std::vector<Axis> axes = {
        {"one step, GB/s",
         {12, 14, 15, 16, 17, 17.5, 18, 19, 20, 22, 24, 27},
         set([](OwnAllReduce& of, double gb) { of.bandwidth = BytesPerSecond(1e9 * gb); }),
         1e-9 * stated.bandwidth.value()},
        {"two steps, us",
         {20, 30, 40, 50, 55, 60, 65, 70, 75, 80, 90, 100},
         set(to_two_steps([](OwnAllReduce& of, double us) { of.two_step_latency = Seconds(1e-6 * us); })),
         1e6 * stated.two_step_latency.value()},
        {"two steps, GB/s",
         {25, 30, 35, 38, 40, 42, 44, 46, 48, 50, 55, 60},
         set(to_two_steps([](OwnAllReduce& of, double gb) { of.two_step_bandwidth = BytesPerSecond(1e9 * gb); })),
         1e-9 * stated.two_step_bandwidth.value()}};
    const auto error = [&](const ServingParts& of) {
        std::vector<const SharedStep*> all;
        for (const SharedStep& step : steps) {
            all.push_back(&step);
        }
        return mean_of(errors_of(all, of));
    };
    fmt::print("vLLM's own all-reduces over PCIe, from {} plain steps beside those of a build that leaves them to NCCL\n",
               steps.size());
    const bool holds = print_fit(parts, axes, error);
    ServingParts library = parts;
    for (sim::Interconnect& link : library.devices.at(device).interconnects) {
        link.own = {};
    }
    fmt::print("  if all were NCCL's: {:.1f} %\n\n", 100.0 * error(library));
    return holds;
}

bool print_gathers(const std::vector<SharedStep>& steps, const ServingParts& parts) {
    using sim::ProtocolCosts;
    const ProtocolCosts stated = parts.devices.at(device).interconnects.front().gather;
    const auto set = [](auto change) {
        return [change](ServingParts& of, double value) {
            for (sim::Interconnect& link : of.devices.at(device).interconnects) {
                change(link.gather, value);
            }
        };
    };
    const std::vector<Axis> axes = {{"latency, us",
                                     {4, 6, 8, 10, 11, 12, 13, 14, 16, 20},
                                     set([](ProtocolCosts& of, double us) { of.latency = Seconds(1e-6 * us); }),
                                     1e6 * stated.latency.value()},
                                    {"bandwidth, GB/s",
                                     {6, 8, 10, 12, 14, 16, 20, 24, 30},
                                     set([](ProtocolCosts& of, double gb) { of.bandwidth = BytesPerSecond(1e9 * gb); }),
                                     1e-9 * stated.bandwidth.value()},
                                    {"bulk latency, us",
                                     {15, 20, 25, 30, 35, 40, 50, 60},
                                     set([](ProtocolCosts& of, double us) { of.bulk_latency = Seconds(1e-6 * us); }),
                                     1e6 * stated.bulk_latency.value()},
                                    {"bulk bandwidth, GB/s",
                                     {20, 24, 26, 28, 30, 32, 34, 38, 42, 46},
                                     set([](ProtocolCosts& of, double gb) { of.bulk_bandwidth = BytesPerSecond(1e9 * gb); }),
                                     1e-9 * stated.bulk_bandwidth.value()}};
    const auto errors = [&](const ServingParts& of, double ranks) {
        std::vector<const SharedStep*> chosen;
        for (const SharedStep& step : steps) {
            if (ranks == 0.0 || step.shared.cut.parallel.context == ranks) {
                chosen.push_back(&step);
            }
        }
        return errors_of(chosen, of);
    };
    fmt::print("All-gathers over PCIe, from {} plain steps of deployments that share the cache\n", steps.size());
    const bool holds = print_fit(parts, axes, [&](const ServingParts& of) { return mean_of(errors(of, 0.0)); });
    ServingParts halves = parts;
    for (sim::Interconnect& link : halves.devices.at(device).interconnects) {
        link.gather = {};
    }
    for (const double ranks : {2.0, 4.0, 8.0}) {
        fmt::print("  shared among {:.0f}: {:.1f} %, as half an all-reduce {:.1f} %\n", ranks,
                   100.0 * mean_of(errors(parts, ranks)), 100.0 * mean_of(errors(halves, ranks)));
    }
    return holds;
}

/// Plain steps of a stack with prompts that all requests share, beside those of the same batch without.
std::vector<SharedStep> prefix_steps(const std::vector<SpeculationRow>& rows, const std::vector<MeasuredPoint>& points,
                                     const std::string& of_stack) {
    constexpr double short_prompt = 2.0;
    const auto is_plain_rate = [&](const MeasuredPoint& point) {
        return point.stack == of_stack && point.device == device && point.cut.parallel.context <= 1.0 && point.batch > 1.0 &&
               rows[point.row].metric == "output_tok_s" && rows[point.row].value_without;
    };
    const auto deployment = [&](const MeasuredPoint& point) {
        const std::string& series = rows[point.row].series;
        return fmt::format("{} {}", series.substr(0, series.rfind('/')), point.batch);
    };
    std::map<std::string, const MeasuredPoint*> without;
    for (const MeasuredPoint& point : points) {
        if (is_plain_rate(point) && point.prompt_tokens < short_prompt) {
            without[deployment(point)] = &point;
        }
    }
    std::vector<SharedStep> steps;
    for (const MeasuredPoint& point : points) {
        if (is_plain_rate(point) && point.shared_prefix >= short_prompt && without.contains(deployment(point))) {
            const MeasuredPoint& other = *without.at(deployment(point));
            steps.push_back(
                {point, other, point.batch / *rows[point.row].value_without, other.batch / *rows[other.row].value_without});
        }
    }
    return steps;
}

bool print_prefix_reads(const std::vector<SpeculationRow>& rows, const std::vector<MeasuredPoint>& points,
                        const ServingParts& parts) {
    const std::string of_stack = "vllm-0.14";
    const std::vector<SharedStep> steps = prefix_steps(rows, points, of_stack);
    const std::vector<Axis> axes = {{"shared_prefix_read",
                                     {0.05, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0},
                                     [&](ServingParts& of, double value) { of.stacks.at(of_stack).shared_prefix_read = value; },
                                     parts.stacks.at(of_stack).shared_prefix_read}};
    const auto error = [](const std::vector<SharedStep>& of_steps, const ServingParts& of) {
        std::vector<const SharedStep*> all;
        for (const SharedStep& step : of_steps) {
            all.push_back(&step);
        }
        return mean_of(errors_of(all, of));
    };
    fmt::print("\nReads of a prompt that all requests share, from {} plain steps of {}\n", steps.size(), of_stack);
    const bool holds = print_fit(parts, axes, [&](const ServingParts& of) { return error(steps, of); });
    ServingParts each = parts;
    each.stacks.at(of_stack).shared_prefix_read = 1.0;
    fmt::print("  if each request reads it: {:.1f} %\n", 100.0 * error(steps, each));
    const std::vector<SharedStep> of_latents = prefix_steps(rows, points, stack);
    fmt::print("  attention over latents, where each does, {} plain steps of {}: {:.1f} %\n", of_latents.size(), stack,
               100.0 * error(of_latents, parts));
    return holds;
}

/// How far the accept length that a cell implies is from that of the same batch without a long prompt, where the same requests
/// are drafted for.
std::vector<double> drifts_of_lengths(const std::vector<SharedStep>& steps, const ServingParts& parts) {
    const auto implied = [&](const MeasuredPoint& point) {
        return SpeculativePoint(point, parts, sim::CostMode::calibrated).accept_length_for(point.measured);
    };
    std::vector<double> drifts;
    for (const SharedStep& step : steps) {
        drifts.push_back(std::abs(std::log(implied(step.shared) / implied(step.alone))));
    }
    return drifts;
}

bool print_walks(const std::vector<SpeculationRow>& rows, const std::vector<MeasuredPoint>& points, const ServingParts& parts) {
    const std::string kernels = "triton", of_stack = "sglang-0.5.6";
    std::vector<MeasuredPoint> with_kernels = points;
    std::erase_if(with_kernels, [&](const MeasuredPoint& point) { return point.attention_kernels != kernels; });
    const std::vector<SharedStep> steps = prefix_steps(rows, with_kernels, of_stack);
    const auto errors = [&](const ServingParts& of) {
        std::vector<const SharedStep*> all;
        for (const SharedStep& step : steps) {
            all.push_back(&step);
        }
        return mean_of(errors_of(all, of));
    };
    const auto axis = [&](const char* name, std::vector<double> values, Seconds sim::AttentionKernels::*walk) {
        return Axis{name, std::move(values),
                    [=](ServingParts& of, double ns) { of.attention_kernels.at(kernels).*walk = Seconds(1e-9 * ns); },
                    1e9 * (parts.attention_kernels.at(kernels).*walk).value()};
    };
    ServingParts without = parts;
    without.attention_kernels.at(kernels).decode_walk = without.attention_kernels.at(kernels).verify_walk = Seconds(0.0);
    fmt::print("\nHow long Triton's kernels walk along a cache, from {} plain steps of {} beside those without a prompt\n",
               steps.size(), of_stack);
    const bool steps_hold = print_fit(
        parts, {axis("decode_walk, ns", {4, 5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 10, 12}, &sim::AttentionKernels::decode_walk)},
        errors);
    fmt::print("  without: {:.1f} %\n", 100.0 * errors(without));
    fmt::print("... and from the accept lengths that {} speed-ups imply, over those without a prompt\n", steps.size());
    const bool lengths_hold = print_fit(
        parts,
        {axis("verify_walk, ns", {20, 25, 30, 35, 38, 40, 42, 44, 46, 50, 55, 60, 70}, &sim::AttentionKernels::verify_walk)},
        [&](const ServingParts& of) { return mean_of(drifts_of_lengths(steps, of)); });
    fmt::print("  without: {:.1f} %\n", 100.0 * mean_of(drifts_of_lengths(steps, without)));
    return steps_hold && lengths_hold;
}

/// Speed-ups of one model: those with the accept length given, and by series all that state a batch.
struct Rounds {
    std::vector<const MeasuredPoint*> given;
    std::map<std::string, std::map<double, const MeasuredPoint*>> by_series;
};

double error_of(SpeculativePoint& priced, double accept_length, const MeasuredPoint& point) {
    return std::abs(std::log(priced.speed_up(accept_length) / point.measured));
}

std::vector<double> errors_with_given(const Rounds& rounds, const ServingParts& parts) {
    std::vector<double> errors;
    for (const MeasuredPoint* point : rounds.given) {
        SpeculativePoint priced(*point, parts, sim::CostMode::calibrated);
        errors.push_back(error_of(priced, *point->accept_length, *point));
    }
    return errors;
}

/// The accept length from the smallest batch of each series, which is not counted.
std::vector<double> errors_with_fitted(const Rounds& rounds, const ServingParts& parts) {
    std::vector<double> errors;
    for (const auto& [series, by_batch] : rounds.by_series) {
        const MeasuredPoint& smallest = *by_batch.begin()->second;
        const double accept_length =
            SpeculativePoint(smallest, parts, sim::CostMode::calibrated).accept_length_for(smallest.measured);
        for (auto at = std::next(by_batch.begin()); at != by_batch.end(); ++at) {
            SpeculativePoint priced(*at->second, parts, sim::CostMode::calibrated);
            errors.push_back(error_of(priced, accept_length, *at->second));
        }
    }
    return errors;
}

bool print_rounds(const std::vector<SpeculationRow>& rows, const std::vector<MeasuredPoint>& points,
                  const ServingParts& parts) {
    std::map<std::string, Rounds> by_model;
    for (const MeasuredPoint& point : points) {
        if (point.stack == stack) {
            Rounds& rounds = by_model[point.model];
            rounds.by_series[rows[point.row].series][point.batch] = &point;
            if (point.accept_length) {
                rounds.given.push_back(&point);
            }
        }
    }
    const sim::Stack& stated = parts.stacks.at(stack);
    const std::vector<Axis> axes = {
        {"host_per_shared_layer, us",
         {0, 10, 20, 30, 40, 50, 60, 70, 80, 100, 120},
         [](ServingParts& of, double us) { of.stacks.at(stack).host_per_shared_layer = Seconds(1e-6 * us); },
         1e6 * stated.host_per_shared_layer.value()},
        {"per_sparse_token, us",
         {0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5},
         [](ServingParts& of, double us) { of.stacks.at(stack).per_sparse_token = Seconds(1e-6 * us); },
         1e6 * stated.per_sparse_token.value()}};
    fmt::print("\nSpeed-ups of these builds\n");
    // Each model and each way counts alike, however many rows there are.
    const bool holds = print_fit(parts, axes, [&](const ServingParts& of) {
        double sum = 0.0;
        for (const auto& [model, rounds] : by_model) {
            sum += mean_of(errors_with_given(rounds, of)) + mean_of(errors_with_fitted(rounds, of));
        }
        return sum / (2.0 * static_cast<double>(by_model.size()));
    });
    for (const auto& [model, rounds] : by_model) {
        const std::vector<double> given = errors_with_given(rounds, parts), fitted = errors_with_fitted(rounds, parts);
        fmt::print(
            "  {:<10} accept length given: {} rows, mean error {:.1f} %; fitted at the smallest batch: {} rows, {:.1f} %\n",
            model, given.size(), 100.0 * mean_of(given), fitted.size(), 100.0 * mean_of(fitted));
    }
    return holds;
}

}  // namespace

int main() {
    const auto file = shared_measurements("data/speculation/measured.json");
    if (!file) {
        return skipped_exit_code;
    }
    std::vector<std::string> notes;
    const ServingParts parts =
        requests::read_serving_parts(requests::catalogue_in(source_folder(), "this checkout"), {}, notes);
    const std::vector<SpeculationRow> rows = requests::read_speculation_rows(*file, notes);
    const std::vector<MeasuredPoint> points = points_of(rows, parts).points;
    const bool all_reduces_hold = print_all_reduces(all_reduce_steps(rows, points), parts);
    const bool gathers_hold = print_gathers(shared_steps(rows, points), parts);
    const bool prefixes_hold = print_prefix_reads(rows, points, parts);
    const bool walks_hold = print_walks(rows, points, parts);
    const bool rounds_hold = print_rounds(rows, points, parts);
    return all_reduces_hold && gathers_hold && prefixes_hold && walks_hold && rounds_hold ? 0 : 1;
}
