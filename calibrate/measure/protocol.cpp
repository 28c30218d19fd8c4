#include "calibrate/measure/protocol.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <random>

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

std::vector<Measurement> summaries(const Block& block) {
    std::vector<Measurement> measurements;
    for (std::size_t i = 0; i < block.kernels.size(); ++i) {
        measurements.push_back(summary_of(block.kernels[i], block.samples[i]));
    }
    return measurements;
}

/// Cases measured together, and under which conditions.
struct MeasuredBlock {
    std::vector<std::size_t> indices;
    std::vector<Measurement> measurements;
    BlockRecord record;
};

/// A run in progress: what all its blocks share.
class Run {
public:
    Run(const MeasuredDevice& device, const std::vector<KernelCase>& cases, Workspace& workspace,
        const ProtocolOptions& options)
        : device_(device),
          cases_(cases),
          workspace_(workspace),
          options_(options),
          sentinel_(device, workspace.rotation() / 2),
          random_(options.seed),
          start_(Clock::now()) {}

    [[nodiscard]] double seconds_left() const { return options_.seconds - seconds_since(start_); }
    std::mt19937_64& random() { return random_; }

    /// Takes at most so many seconds beyond the least samples.
    MeasuredBlock measured(const std::vector<std::size_t>& indices, double seconds, std::vector<Skipped>& skipped) {
        MeasuredBlock result;
        result.indices = indices;
        Block block = prepare(device_, cases_, indices, workspace_, skipped);
        result.record.before = sentinel_.read();
        sample(block, seconds, options_, random_);
        result.record.after = sentinel_.read();
        result.record.cases = block.kernels.size();
        result.measurements = summaries(block);
        return result;
    }

    /// Whether conditions become typical before the time is up.
    [[nodiscard]] bool waits_for(const Conditions& typical) const {
        return seconds_left() > 0.0 && sentinel_.wait_for(typical, options_.limits, seconds_left());
    }

    /// Whether it ran under steady conditions, the same as other blocks.
    [[nodiscard]] bool is_good(const MeasuredBlock& block, const Conditions& typical) const {
        return is_comparable(block.record.before, block.record.after, typical, options_.limits);
    }

private:
    const MeasuredDevice& device_;
    const std::vector<KernelCase>& cases_;
    Workspace& workspace_;
    const ProtocolOptions& options_;
    Sentinel sentinel_;
    std::mt19937_64 random_;
    Clock::time_point start_;
};

Conditions typical_of(const std::vector<MeasuredBlock>& blocks, const ProtocolOptions& options) {
    std::vector<Conditions> all = options.earlier;
    for (const MeasuredBlock& block : blocks) {
        all.push_back(block.record.before);
        all.push_back(block.record.after);
    }
    return typical_of(all, options.limits);
}

void mark(MeasuredBlock& block, bool drifted) {
    block.record.drifted = drifted;
    for (Measurement& measurement : block.measurements) {
        measurement.drifted = drifted;
    }
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

int ProtocolRun::repeated() const {
    return static_cast<int>(std::count_if(blocks.begin(), blocks.end(), [](const BlockRecord& b) { return b.attempts > 1; }));
}

int ProtocolRun::drifted() const {
    return static_cast<int>(std::count_if(blocks.begin(), blocks.end(), [](const BlockRecord& b) { return b.drifted; }));
}

ProtocolRun measure(const MeasuredDevice& device, const std::vector<KernelCase>& cases, std::vector<std::size_t> indices,
                    Workspace& workspace, const ProtocolOptions& options, const BlockDone& block_done) {
    constexpr int most_attempts = 4;
    ProtocolRun result;
    Run run(device, cases, workspace, options);
    std::shuffle(indices.begin(), indices.end(), run.random());
    std::vector<MeasuredBlock> blocks;
    for (std::size_t first = 0; first < indices.size(); first += options.cases_a_block) {
        const std::size_t last = std::min(indices.size(), first + options.cases_a_block);
        // Half of the time is for what must be repeated.
        const double share =
            0.5 * run.seconds_left() * static_cast<double>(last - first) / static_cast<double>(indices.size() - first);
        blocks.push_back(run.measured({indices.begin() + std::ptrdiff_t(first), indices.begin() + std::ptrdiff_t(last)}, share,
                                      result.skipped));
        mark(blocks.back(), !is_steady(blocks.back().record.before, blocks.back().record.after, options.limits));
        block_done(blocks.back().measurements, last, indices.size());
    }
    const Conditions typical = typical_of(blocks, options);
    const double share = 0.5 * options.seconds / static_cast<double>(std::max<std::size_t>(blocks.size(), 1));
    for (int attempt = 2; attempt <= most_attempts; ++attempt) {
        for (MeasuredBlock& block : blocks) {
            if (run.is_good(block, typical) || !run.waits_for(typical)) {
                continue;
            }
            std::vector<Skipped> known;
            MeasuredBlock again = run.measured(block.indices, share, known);
            if (run.is_good(again, typical)) {
                block = std::move(again);
            }
            block.record.attempts = attempt;
        }
    }
    for (MeasuredBlock& block : blocks) {
        const bool was_marked = block.record.drifted;
        mark(block, !run.is_good(block, typical));
        if (block.record.attempts > 1 || block.record.drifted != was_marked) {
            block_done(block.measurements, indices.size(), indices.size());
        }
        result.measurements.insert(result.measurements.end(), block.measurements.begin(), block.measurements.end());
        result.blocks.push_back(block.record);
    }
    result.typical = typical;
    return result;
}

}  // namespace treeline
