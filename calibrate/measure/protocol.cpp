#include "calibrate/measure/protocol.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <random>

#include "calibrate/measure/sentinel.h"
#include "calibrate/timings.h"

namespace treeline {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The cases of a block with their timers and samples.
struct Block {
    std::vector<std::size_t> kernels;
    std::vector<std::unique_ptr<KernelTimer>> timers;
    std::vector<std::vector<double>> samples;
};

Block prepare(const MeasuredDevice& device, const std::vector<KernelCase>& cases, const std::vector<std::size_t>& indices,
              Workspace& workspace, std::vector<Skipped>& skipped) {
    Block block;
    for (const std::size_t index : indices) {
        const KernelCase& kernel = cases[index];
        if (!workspace.holds(kernel.largest_piece)) {
            skipped.push_back({index, kernel.name() + " needs " + std::to_string(kernel.largest_piece >> 20) +
                                          " MiB at once, more than the " + std::to_string(workspace.rotation() >> 20) +
                                          " MiB that are set aside on this device"});
            continue;
        }
        try {
            block.timers.push_back(make_timer(device, kernel, workspace));
            block.kernels.push_back(index);
        } catch (const std::bad_alloc&) {
            skipped.push_back({index, kernel.name() + " needs more memory than there is"});
        } catch (const std::length_error&) {
            skipped.push_back({index, kernel.name() + " needs more activations than are set aside on this device"});
        }
    }
    block.samples.resize(block.kernels.size());
    return block;
}

/// Rounds over all cases that are not known well enough, each in an order of its own.
void sample(Block& block, double seconds, const ProtocolOptions& options, std::mt19937_64& random) {
    for (std::vector<double>& samples : block.samples) {
        samples.clear();
    }
    const Clock::time_point start = Clock::now();
    for (int round = 0; round < options.most_samples; ++round) {
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < block.kernels.size(); ++i) {
            const bool known = round >= options.least_samples &&
                               median_uncertainty(summary_of(block.kernels[i], block.samples[i])) <= options.enough;
            if (!known) {
                order.push_back(i);
            }
        }
        if (order.empty() || (round >= options.least_samples && seconds_since(start) > seconds)) {
            break;
        }
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t i : order) {
            block.samples[i].push_back(block.timers[i]->seconds());
        }
    }
}

/// Takes the block's samples between two readings of the sentinel; returns how far it moved.
double sample_between_sentinels(Block& block, Sentinel& sentinel, double seconds, const ProtocolOptions& options,
                                std::mt19937_64& random) {
    const double before = sentinel.seconds();
    sample(block, seconds, options, random);
    return std::abs(sentinel.seconds() / before - 1.0);
}

std::vector<Measurement> summaries(const Block& block, bool drifted) {
    std::vector<Measurement> measurements;
    for (std::size_t i = 0; i < block.kernels.size(); ++i) {
        measurements.push_back(summary_of(block.kernels[i], block.samples[i]));
        measurements.back().drifted = drifted;
    }
    return measurements;
}

/// Measures a block, and once more where the sentinel moved too far and there is time; keeps the steadier of the two.
std::vector<Measurement> measure_block(Block& block, Sentinel& sentinel, double share, double seconds_left,
                                       const ProtocolOptions& options, std::mt19937_64& random, ProtocolRun& run) {
    const Clock::time_point start = Clock::now();
    double drift = sample_between_sentinels(block, sentinel, share, options, random);
    std::vector<Measurement> kept = summaries(block, drift > options.most_drift);
    if (drift > options.most_drift && 2.0 * seconds_since(start) < seconds_left) {
        ++run.repeated;
        const double again = sample_between_sentinels(block, sentinel, share, options, random);
        if (again < drift) {
            drift = again;
            kept = summaries(block, drift > options.most_drift);
        }
    }
    ++run.blocks;
    run.drifted += drift > options.most_drift ? 1 : 0;
    run.worst_drift = std::max(run.worst_drift, drift);
    return kept;
}

}  // namespace

Measurement summary_of(std::size_t kernel, const std::vector<double>& samples) {
    Measurement result{kernel, 0.0, 0.0, 0.0, 0.0, static_cast<int>(samples.size()), false};
    if (samples.empty()) {
        return result;
    }
    result.median = quantile(samples, 0.5);
    result.first_quartile = quantile(samples, 0.25);
    result.third_quartile = quantile(samples, 0.75);
    std::vector<double> distances;
    for (const double sample : samples) {
        distances.push_back(std::abs(sample - result.median));
    }
    result.deviation = quantile(distances, 0.5);
    return result;
}

double median_uncertainty(const Measurement& measurement) {
    const double range = measurement.third_quartile - measurement.first_quartile;
    return 1.57 * range / (std::sqrt(static_cast<double>(std::max(measurement.samples, 1))) * measurement.median);
}

ProtocolRun measure(const MeasuredDevice& device, const std::vector<KernelCase>& cases, std::vector<std::size_t> indices,
                    Workspace& workspace, const ProtocolOptions& options, const BlockDone& block_done) {
    ProtocolRun run;
    std::mt19937_64 random(options.seed);
    std::shuffle(indices.begin(), indices.end(), random);
    Sentinel sentinel(workspace.backend(), workspace.rotation() / 2);
    const Clock::time_point start = Clock::now();
    for (std::size_t first = 0; first < indices.size(); first += options.cases_a_block) {
        const std::size_t last = std::min(indices.size(), first + options.cases_a_block);
        Block block = prepare(device, cases, {indices.begin() + std::ptrdiff_t(first), indices.begin() + std::ptrdiff_t(last)},
                              workspace, run.skipped);
        const double left = options.seconds - seconds_since(start);
        const double share = left * static_cast<double>(last - first) / static_cast<double>(indices.size() - first);
        const std::vector<Measurement> measured = measure_block(block, sentinel, 0.5 * share, share, options, random, run);
        run.measurements.insert(run.measurements.end(), measured.begin(), measured.end());
        block_done(measured, last, indices.size());
    }
    return run;
}

}  // namespace treeline
