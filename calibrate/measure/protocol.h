// The protocol of a measurement run: passes over all targets, each in an order of its own, so that the samples of every target
// are spread over the whole run and see the same mixture of conditions. If the machine changes between states, the result
// describes one of them: the one in which most is known at the end.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "calibrate/held_out_decoder.h"
#include "calibrate/measure/kernel_timer.h"
#include "calibrate/measure/sample.h"

namespace treeline::calibrate {

/// Something to measure.
struct Target {
    std::size_t index = 0;  ///< in its owner's numbering
    /// Takes samples, with the conditions beside them. None: it cannot be measured (its owner says why) and is not visited
    /// again.
    std::function<std::vector<Sample>(Sentinel&)> visit;
    /// Takes seconds and yields many samples: visited ten times at most, spread over the run.
    bool is_long = false;
    /// In the first pass, those of a lower rank come first: what a short run must have.
    int rank = 0;
};

struct Skipped {
    std::size_t index = 0;
    std::string reason;     ///< a sentence
    bool is_fatal = false;  ///< the device did not work any more afterwards
};

/// A device that no longer works at all after a failure, as after an illegal access: only a new process can go on.
class DeviceLost : public kernels::KernelError {
    using kernels::KernelError::KernelError;
};

/// Kernels, one sample per visit. Cases that do not fit the workspace or the device's memory, or fail when they are set up or
/// run, are skipped; `skipped`, `cases` and `workspace` must live as long as the targets. Throws DeviceLost where the device
/// does not even run an empty kernel after a failure.
std::vector<Target> kernel_targets(const MeasuredDevice& device, const std::vector<KernelCase>& cases,
                                   const std::vector<std::size_t>& indices, Workspace& workspace,
                                   std::vector<Skipped>& skipped);

/// Decoders (those with these indices), a sample for each timed round; parts: draft, verify, roll back, host. Decoders that the
/// device has no room for are skipped when visited; `skipped` must live as long as the targets.
std::vector<Target> decoder_targets(const std::vector<HeldOutDecoder>& decoders, const std::vector<std::size_t>& indices,
                                    const HeldOutRounds& rounds, bool on_gpu, std::vector<Skipped>& skipped);

struct ProtocolOptions {
    int least_samples = 7, most_samples = 60;
    double enough = 0.01;    ///< a target is done when the 95 % interval of its median is within ± this share
    double seconds = 150.0;  ///< for all targets, after least_samples; a sixth more is spent on what is lacking
    /// s: no target is visited later than this, whatever is lacking then.
    double deadline = std::numeric_limits<double>::infinity();
    ConditionLimits limits;
    std::uint64_t seed = 20'261'121;
    std::vector<Conditions> earlier;  ///< those beside an earlier run's measurements: this run should count under the same

    /// The fewest samples that are needed in the typical state.
    [[nodiscard]] int fewest_samples() const { return (least_samples + 1) / 2; }
};

/// A pass: conditions at its beginning, and what it visited.
struct PassRecord {
    double at = 0.0;  ///< s since the run began
    Conditions conditions;
    std::size_t visits = 0;
};

struct ProtocolRun {
    std::vector<Measurement> measurements;  ///< in the order of the targets, without those that yielded no sample
    std::vector<PassRecord> passes;
    std::vector<Conditions> states;  ///< states_of() of the conditions seen beside the samples
    Conditions typical;              ///< the state that the measurements describe
    std::size_t samples = 0;
    std::size_t samples_elsewhere = 0;  ///< those of them taken in another state, or while the state changed

    [[nodiscard]] std::size_t drifted() const;
};

/// Called after each pass with all measurements so far, so that they survive an interruption. `seconds` of `planned` have
/// passed.
using PassDone = std::function<void(const std::vector<Measurement>& measurements, double seconds, double planned)>;

/// Called with the first samples of each target, so that a run that ends within its first pass has measured something, too.
using TargetSeen = std::function<void(const Measurement& measurement)>;

/// Throws KernelError if the device fails; what the functions were given before stays valid.
ProtocolRun measure(Sentinel& sentinel, const std::vector<Target>& targets, const ProtocolOptions& options,
                    const PassDone& pass_done, const TargetSeen& target_seen = {});

}  // namespace treeline::calibrate
