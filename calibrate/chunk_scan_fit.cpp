#include "calibrate/chunk_scan_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "calibrate/log_fit.h"

namespace treeline::calibrate {
namespace {

using ChunkScans = std::vector<ChunkScanSample>;

constexpr double least_number = 1e-12;  ///< of seconds: a number that goes to zero stops here, so that its logarithm is finite
constexpr double least_traffic = 1e-3;  ///< below it there is none

/// From the numbers that are fitted: startup, per_token, per_head and traffic.
sim::ChunkScanLaw chunk_law_from(double overlap, const std::vector<double>& values) {
    sim::ChunkScanLaw law;
    law.overlap = overlap;
    law.startup = Seconds(std::max(values[0], least_number));
    law.per_token = Seconds(std::max(values[1], least_number));
    law.per_head = Seconds(std::max(values[2], least_number));
    law.traffic = values[3] > least_traffic ? values[3] : 0.0;
    return law;
}

std::vector<double> residuals_of(const sim::ChunkScanLaw& law, const ChunkScans& samples, const sim::ChunkScanDevice& device) {
    std::vector<double> residuals;
    residuals.reserve(samples.size());
    for (const ChunkScanSample& sample : samples) {
        residuals.push_back(std::log(time_of(law, sample.shape, device) / sample.time));
    }
    return residuals;
}

/// The best of fits from two lengths of a step: where the work of heads bounds every row, the chain has no slope.
std::optional<sim::ChunkScanLaw> fitted_chunk_law(double overlap, const ChunkScans& samples, const sim::ChunkScanDevice& device,
                                                  const KernelFitOptions& options) {
    std::optional<LogFit> best;
    for (const double step : {20e-9, 60e-9}) {
        std::optional<LogFit> fit =
            fit_logs({20e-6, step, 300e-9, 1.0}, samples.size(), options.huber_delta,
                     [&](const auto& v) { return residuals_of(chunk_law_from(overlap, v), samples, device); });
        if (fit && (!best || fit->loss < best->loss)) {
            best = std::move(fit);
        }
    }
    return best ? std::optional(chunk_law_from(overlap, best->values)) : std::nullopt;
}

/// Residuals of each sample by the law of those with other numbers of sequences; empty if one of these fits fails.
std::vector<double> sequences_held_out(double overlap, const ChunkScans& samples, const sim::ChunkScanDevice& device,
                                       const KernelFitOptions& options) {
    std::set<double> numbers;
    for (const ChunkScanSample& sample : samples) {
        numbers.insert(sample.shape.sequences);
    }
    std::vector<double> residuals(samples.size());
    for (const double held_out : numbers) {
        ChunkScans others;
        std::copy_if(samples.begin(), samples.end(), std::back_inserter(others),
                     [&](const ChunkScanSample& sample) { return sample.shape.sequences != held_out; });
        const auto law = fitted_chunk_law(overlap, others, device, options);
        if (!law) {
            return {};
        }
        for (std::size_t i = 0; i < samples.size(); ++i) {
            if (samples[i].shape.sequences == held_out) {
                residuals[i] = std::log(time_of(*law, samples[i].shape, device) / samples[i].time);
            }
        }
    }
    return residuals;
}

}  // namespace

sim::ChunkScanDevice chunk_scan_device(const sim::Device& device) {
    return {device.bandwidth, device.multiprocessors, device.cache};
}

std::optional<ChunkScanFit> fit_chunk_scan(const ChunkScanTable& table, const sim::Device& device,
                                           const KernelFitOptions& options) {
    std::set<double> numbers;
    for (const ChunkScanSample& sample : table.samples) {
        numbers.insert(sample.shape.sequences);
    }
    if (numbers.size() < fewest_sites) {
        return std::nullopt;
    }
    const sim::ChunkScanDevice on = chunk_scan_device(device);
    double least = std::numeric_limits<double>::infinity();
    std::optional<ChunkScanFit> best;
    for (const double overlap : {0.0, 0.5, 1.0}) {
        const std::vector<double> residuals = sequences_held_out(overlap, table.samples, on, options);
        const std::optional<sim::ChunkScanLaw> law = fitted_chunk_law(overlap, table.samples, on, options);
        if (!law || residuals.empty() || errors_of(residuals).score >= least) {
            continue;
        }
        least = errors_of(residuals).score;
        std::vector<double> of_one;
        for (std::size_t i = 0; i < residuals.size(); ++i) {
            if (table.samples[i].shape.sequences == 1.0) {
                of_one.push_back(residuals[i]);
            }
        }
        best = {*law, errors_of(residuals_of(*law, table.samples, on)), errors_of(residuals), errors_of(of_one)};
    }
    if (best) {
        best->law.family = table.family;
        best->law.by_channel = table.by_channel;
    }
    return best;
}

}  // namespace treeline::calibrate
