// Runs without speculation: names, then the rules that leave rows out. No rule looks at a prediction.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/operations.h"
#include "validation/serving/points.h"

namespace treeline::validation {
namespace {

constexpr double longest_ttft_ms = 2000.0;  // beyond, requests queue, and fewer run than the row says
// Products of matrices reach 0.82 of the peak in 16 bits and 0.54 in fp8 at best (ai-dynamo/aiconfigurator GEMM tables of
// H100).
constexpr double most_utilisation = 0.85, most_narrow_utilisation = 0.6;
constexpr double twin_ratio = 1.22;  // of TPOT under equal conditions; repeated runs lie within a few percent

/// The engine's version, where the row does not state one or names a build.
std::string version_of_run(const ServingRun& row, const NameTable& table) {
    if (const EngineEntry* engine = engine_for(table, row.engine)) {
        for (const VersionEntry& entry : engine->versions) {
            if (fits_any(entry.patterns, normalised(row.engine_version))) {
                return entry.version;
            }
        }
    }
    return row.engine_version;
}

/// Whether an entry of the table is about this run.
bool is_about(const RunPattern& runs, const ServingRun& row, const DeviceCut& cut) {
    const auto holds = [](const std::string& pattern, const std::string& text) {
        return pattern.empty() || fits(pattern, normalised(text));
    };
    return holds(runs.engine, row.engine) && holds(runs.engine_version, row.engine_version) && holds(runs.device, row.device) &&
           holds(runs.model, row.model) && holds(runs.format, row.format) &&
           holds(runs.cut, sim::text_of(cut.tensor, cut.parallel));
}

/// What the configuration of the benchmark says of this run.
BenchmarkEntry stated_by_benchmark(const ServingRun& row, const DeviceCut& cut, const NameTable& table) {
    BenchmarkEntry all;
    for (const BenchmarkEntry& entry : table.benchmark) {
        if (is_about(entry.runs, row, cut)) {
            all.speculation = entry.speculation ? entry.speculation : all.speculation;
            all.kv_cache = entry.kv_cache ? entry.kv_cache : all.kv_cache;
            all.state = entry.state ? entry.state : all.state;
        }
    }
    return all;
}

Mapped<MeasuredPoint> mapped(const ServingRun& row, const ServingParts& parts) {
    MeasuredPoint point;
    point.prompt_tokens = row.prompt_tokens;
    point.output_tokens = row.output_tokens;
    point.context = row.prompt_tokens + 0.5 * row.output_tokens;
    point.batch = row.batch;
    point.measured = 1e-3 * row.tpot_ms;
    if (const auto unmapped = set_place({row.model, row.device, row.engine, version_of_run(row, parts.names),
                                         row.format + " " + row.expert_format, row.ranks},
                                        parts, point)) {
        return *unmapped;
    }
    // A row states the requests of one group, of as many groups as it says, even where that is not how many there were
    // (read_as_documented() in points.cpp).
    point.batch *= std::max(1.0, row.ranks.attention_data.value_or(1.0));
    const BenchmarkEntry stated = stated_by_benchmark(row, point.cut, parts.names);
    if (stated.kv_cache) {
        point.precision.kv_cache = sim::Storage{*stated.kv_cache};
    }
    if (stated.state) {
        point.precision.state = sim::Storage{*stated.state};
    }
    return point;
}

const ExclusionEntry* exclusion_of(const ServingRun& row, const MeasuredPoint& point, const NameTable& table) {
    const auto found = std::find_if(table.exclusions.begin(), table.exclusions.end(),
                                    [&](const ExclusionEntry& entry) { return is_about(entry.runs, row, point.cut); });
    return found == table.exclusions.end() ? nullptr : &*found;
}

/// Share of the peak that the products with weights of `tokens` of each request take over these seconds.
double utilisation(double tokens, double seconds, const MeasuredPoint& point, const ServingParts& parts) {
    const sim::Device& device = parts.devices.at(point.device);
    const double flops = 2.0 * static_cast<double>(sim::active_body_parameters(parts.models.at(point.model))) * tokens;
    return point.batch * flops / seconds / (point.cut.devices() * device.peak_for(point.precision.math).value());
}

/// That of prompts and answers over the whole time of a request.
double least_utilisation(const ServingRun& row, const MeasuredPoint& point, const ServingParts& parts) {
    const double seconds = 1e-3 * (row.output_tokens * row.tpot_ms + row.ttft_ms.value_or(0.0));
    return utilisation(row.prompt_tokens + row.output_tokens, seconds, point, parts);
}

/// How a run's engine was started: all but device and load.
std::string deployment_of(const ServingRun& row, const MeasuredPoint& point) {
    return fmt::format("{}|{}|{}|{}|{}|{}", row.model, row.engine, row.engine_version, row.format, row.expert_format,
                       text_of(point.cut.tensor, point.cut.parallel));
}

/// Models of the same layers are the same work, whatever they are called: DeepSeek-V3 and -R1.
std::string layers_of(const sim::Model& model) {
    return fmt::format("{} layers, {} active parameters", model.order.size(), sim::active_body_parameters(model));
}

/// What two rows must share to measure the same thing; the engine's version apart.
std::string conditions_of(const ServingRun& row, const MeasuredPoint& point, const ServingParts& parts) {
    return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", layers_of(parts.models.at(point.model)), point.device, row.engine, row.format,
                       sim::text_of(point.cut.tensor, point.cut.parallel) + fmt::format(" {}", point.cut.devices()),
                       row.prompt_tokens, row.output_tokens, point.batch);
}

/// Mixtures whose deployment somewhere is more than `twin_ratio` faster than another one under the same conditions: such twins
/// differ most at few users, as multi-token prediction would have it. What is suspected on one device is on all others. Runs
/// of which the benchmark says whether they speculated are neither suspects nor evidence.
std::vector<std::string> suspected_deployments(std::span<const ServingRun> rows, const std::vector<MeasuredPoint>& points,
                                               const ServingParts& parts) {
    const auto is_known = [&](const MeasuredPoint& point) {
        return stated_by_benchmark(rows[point.row], point.cut, parts.names).speculation.has_value();
    };
    std::map<std::string, double> slowest;
    for (const MeasuredPoint& point : points) {
        if (is_known(point)) {
            continue;
        }
        double& time = slowest[conditions_of(rows[point.row], point, parts)];
        time = std::max(time, point.measured);
    }
    std::vector<std::string> suspected;
    for (const MeasuredPoint& point : points) {
        const ServingRun& row = rows[point.row];
        if (!is_known(point) && !row.expert_format.empty() &&
            slowest[conditions_of(row, point, parts)] > twin_ratio * point.measured) {
            suspected.push_back(deployment_of(row, point));
        }
    }
    std::sort(suspected.begin(), suspected.end());
    return suspected;
}

/// All of a measurement: rows that agree in it are one run, listed twice. Some lists round to two decimals, and some shorten
/// the name of a nightly build.
std::string measurement_of(const ServingRun& row, const MeasuredPoint& point, const ServingParts& parts) {
    return fmt::format("{}|{}|{:.2f}|{:.2f}", conditions_of(row, point, parts), row.expert_format, row.tpot_ms,
                       row.ttft_ms.value_or(0.0));
}

/// The rule that leaves out a row which could be priced; empty if none does.
Unmapped rule_against(const ServingRun& row, const MeasuredPoint& point, const ServingParts& parts,
                      const std::vector<std::string>& suspected) {
    if (const ExclusionEntry* exclusion = exclusion_of(row, point, parts.names)) {
        return {exclusion->reason, fmt::format("{} {}", row.engine, row.engine_version)};
    }
    const auto speculation = stated_by_benchmark(row, point.cut, parts.names).speculation;
    if (speculation == HiddenSpeculation::always) {
        return {"with multi-token prediction, says the benchmark's configuration", deployment_of(row, point)};
    }
    if (speculation == HiddenSpeculation::sometimes) {
        return {"with or without multi-token prediction: the benchmark ran both", deployment_of(row, point)};
    }
    if (row.ttft_ms.value_or(0.0) > longest_ttft_ms) {
        return {"requests queued (time to first token above 2 s)", fmt::format("{:.0f} ms", *row.ttft_ms)};
    }
    // A prefix cache spares prompts, and no answers.
    if (const double share = utilisation(1.0, 1e-3 * row.tpot_ms, point, parts); share > 1.0) {
        return {impossible_time, fmt::format("{:.1f} times the peak", share)};
    }
    const double most = sim::bits_of(point.precision.math) < 16.0 ? most_narrow_utilisation : most_utilisation;
    if (const double share = least_utilisation(row, point, parts); share > most) {
        return {"prompts were not all computed (a prefix cache)", fmt::format("{:.2f} of the peak", share)};
    }
    if (!speculation && std::binary_search(suspected.begin(), suspected.end(), deployment_of(row, point))) {
        return {"possibly with multi-token prediction (a deployment with a faster twin)", deployment_of(row, point)};
    }
    return {};
}

}  // namespace

MeasuredPoints points_of(std::span<const ServingRun> rows, const ServingParts& parts) {
    MeasuredPoints mapped_rows;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Mapped<MeasuredPoint> point = mapped(rows[i], parts);
        if (const auto* unmapped = std::get_if<Unmapped>(&point)) {
            mapped_rows.left_out.push_back({i, unmapped->reason, unmapped->detail, {}});
        } else {
            std::get<MeasuredPoint>(point).row = i;
            add_point(std::move(std::get<MeasuredPoint>(point)), parts, mapped_rows);
        }
    }
    const std::vector<std::string> suspected = suspected_deployments(rows, mapped_rows.points, parts);
    MeasuredPoints result{{}, std::move(mapped_rows.left_out)};
    std::map<std::string, std::string> seen;  // measurements, and the first row that has each
    for (MeasuredPoint& point : mapped_rows.points) {
        const auto [first, is_new] = seen.emplace(measurement_of(rows[point.row], point, parts), rows[point.row].id);
        const Unmapped rule =
            is_new ? rule_against(rows[point.row], point, parts, suspected) : Unmapped{"duplicate", first->second};
        if (rule.reason.empty()) {
            result.points.push_back(std::move(point));
        } else {
            const std::size_t row = point.row;
            // What is a slip is predicted as nothing.
            const bool slip = rule.reason == impossible_time;
            result.left_out.push_back(
                {row, rule.reason, rule.detail, slip ? std::nullopt : std::optional<MeasuredPoint>(std::move(point))});
        }
    }
    return result;
}

}  // namespace treeline::validation
