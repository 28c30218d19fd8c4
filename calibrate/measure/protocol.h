// The protocol of a measurement run: cases in blocks, each block in randomly interleaved order between two readings of the
// machine's conditions, until medians are known well enough; then blocks that ran under other conditions than most once more.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "calibrate/measure/conditions.h"
#include "calibrate/measure/kernel_timer.h"

namespace treeline {

struct ProtocolOptions {
    int least_samples = 7, most_samples = 30;
    double enough = 0.01;    ///< a case is done when the 95 % interval of its median is within ± this share
    double seconds = 150.0;  ///< for all cases: blocks share it out evenly; least_samples come first
    ConditionLimits limits;  ///< beyond them a block is repeated in the time left
    std::size_t cases_a_block = 24;
    std::uint64_t seed = 20'261'121;
    std::vector<Conditions> earlier;  ///< of blocks that a run before measured: this one should go on under the same
};

/// What the samples of one case say, in seconds.
struct Measurement {
    std::size_t kernel = 0;  ///< index of the case
    double median = 0.0, first_quartile = 0.0, third_quartile = 0.0;
    double deviation = 0.0;  ///< median absolute deviation from the median
    int samples = 0;
    bool drifted = false;  ///< conditions changed while this was measured, or were not those of the other blocks
};
Measurement summary_of(std::size_t kernel, const std::vector<double>& samples);

/// Half the 95 % interval of the median, as a share of it: 1.57 · interquartile range / √n (McGill, Tukey and Larsen,
/// "Variations of box plots", 1978).
double median_uncertainty(const Measurement& measurement);

struct Skipped {
    std::size_t kernel = 0;
    std::string reason;  ///< a sentence
};

/// What a block of cases ran under, as it was kept.
struct BlockRecord {
    std::size_t cases = 0;
    Conditions before, after;
    int attempts = 1;
    bool drifted = false;  ///< as Measurement::drifted
};

struct ProtocolRun {
    std::vector<Measurement> measurements;
    std::vector<Skipped> skipped;
    std::vector<BlockRecord> blocks;
    Conditions typical;  ///< typical_of() the blocks, earlier ones included

    [[nodiscard]] int repeated() const;
    [[nodiscard]] int drifted() const;
};

/// Called after each block with its measurements, and again with those of a block that was measured once more, which replace
/// them: what is written then survives an interruption. `done` and `total` are cases.
using BlockDone = std::function<void(const std::vector<Measurement>& block, std::size_t done, std::size_t total)>;

/// Measures the cases with these indices. Cases that do not fit the workspace, or that the device has no memory for, are
/// skipped. Throws KernelError where the device fails; what BlockDone was given before stays valid.
ProtocolRun measure(const MeasuredDevice& device, const std::vector<KernelCase>& cases, std::vector<std::size_t> indices,
                    Workspace& workspace, const ProtocolOptions& options, const BlockDone& block_done);

}  // namespace treeline
