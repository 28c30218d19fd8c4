// Time of one forward pass on one platform: operations with rates, plus what the software stack adds.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sim/accelerator.h"
#include "sim/device.h"
#include "sim/operations.h"
#include "sim/stack.h"

namespace treeline {

/// How time follows from FLOPs and bytes (section 2 of the cost model).
enum class CostMode {
    hoi,       ///< the whole pass costs max(FLOPs, bytes × HOI); weights and caches only (SPIRe)
    roofline,  ///< operation by operation with data-sheet peaks, plus the stack's launches and host time
    /// operation by operation with the laws of the device's measured kernels, plus the stack's launches and host time.
    /// Operations without a law are priced as in roofline mode, as is a device without calibration.
    calibrated,
    cycles,  ///< an accelerator's cycle model: what platforms with an accelerator use, and no others
};

/// Those that users choose from.
inline constexpr std::array all_cost_modes = {CostMode::roofline, CostMode::calibrated, CostMode::hoi};

/// A device, the software on it, and how many of them share each layer.
struct Platform {
    Device device;
    Stack stack;
    double ranks = 1.0;
    CostMode mode = CostMode::roofline;
    std::string interconnect = {};                ///< name of the link to use; empty = the device's fastest
    std::optional<Accelerator> accelerator = {};  ///< what `device` summarises, where it is one
};

/// The platform that an accelerator is: device_of(), on_chip_stack(), CostMode::cycles.
Platform platform_of(Accelerator accelerator);

/// The link that this platform's tensor parallelism uses; nothing for a single rank or when the device has no such link.
const Interconnect* link_of(const Platform& platform);

/// What depends on the rows (tokens or logits) of a linear layer in steps.
struct RowSteps {
    bool any = false;         ///< false: the rest is neutral
    bool are_logits = false;  ///< rows are logits (LM head), not tokens
    double tile = 1.0;        ///< the compute side pays for whole tiles
    double inverse_tile = 1.0;
    Flops per_row;            ///< FLOPs of one row
    double step_after = 0.0;  ///< beyond so many rows `step` is added to the startup
    Seconds step;
};

/// The overlap law: with x = startup + bytes/bandwidth and y = startup + FLOPs/peak, time = max(x, y) + overlap·min(x, y).
struct Rates {
    Seconds startup;
    SecondsPerByte per_byte;
    SecondsPerFlop per_flop;
    double overlap = 0.0;  ///< r: 0 hides the shorter side wholly, 1 not at all
    Seconds ramp;          ///< further startup that grows with the bytes, up to 1 / per_ramp of them; may be below zero
    double per_ramp = 0.0;
    Seconds per_sequence;  ///< further startup of an operation that reads a context
    Seconds per_context;   ///< such an operation takes no less than startup + this for each cached token it sees
    RowSteps rows;         ///< of a linear layer in calibrated mode
};

inline Seconds time_by(const Rates& rates, Bytes bytes, Flops flops) {
    const double ramped = bytes.value() * rates.per_ramp;
    const Seconds startup = rates.startup + rates.ramp * (ramped < 1.0 ? ramped : 1.0);
    const double memory = (startup + bytes * rates.per_byte).value();
    const double compute = (startup + flops * rates.per_flop).value();
    const double longer = memory > compute ? memory : compute;  // on plain doubles this is one instruction, and vectorises
    const double shorter = memory > compute ? compute : memory;
    return Seconds(longer + rates.overlap * shorter);
}

/// rows rounded up to whole tiles. No libm call, so that loops vectorise; exact below 2^51 tiles.
inline double whole_tiles(const RowSteps& steps, double rows) {
    constexpr double rounder = 4503599627370496.0;  // 2^52: adding and subtracting it rounds to the nearest whole number
    const double tiles = rows * steps.inverse_tile;
    const double nearest = (tiles + rounder) - rounder;
    return (nearest < tiles ? nearest + 1.0 : nearest) * steps.tile;
}

/// Time of one run of an operation at a shape, given its bytes and FLOPs there.
template <bool reads_context, bool has_row_steps>
inline Seconds operation_time(const OperationCost& cost, const Rates& rates, const ShapeTerms& shape, Bytes bytes,
                              Flops flops) {
    Rates at_shape = rates;
    if constexpr (reads_context) {
        at_shape.startup += rates.per_sequence * shape.sequences;
        const Seconds walk = at_shape.startup + rates.per_context * visible_context(cost.reach, shape.context);
        const Seconds time = time_by(at_shape, bytes, flops);
        return time > walk ? time : walk;
    }
    if constexpr (has_row_steps) {
        const double rows = rates.rows.are_logits ? shape.logits : shape.tokens;
        at_shape.startup += rows > rates.rows.step_after ? rates.rows.step : Seconds(0.0);
        return time_by(at_shape, bytes, flops + rates.rows.per_row * (whole_tiles(rates.rows, rows) - rows));
    }
    return time_by(at_shape, bytes, flops);
}

/// A kernel's law, made ready for an operation that it runs; `data_sheet` holds the peaks that its shares are of.
Rates measured_rates(const KernelLaw& law, const Rates& data_sheet, const Operation& operation);

struct TimedOperation {
    Operation operation;
    Rates rates;
    double runs = 1.0;         ///< times it runs in one pass
    double memory_runs = 1.0;  ///< the same for main-memory traffic: 0 for collectives
    double gaps = 0.0;   ///< launch gaps of one run that its rates do not hold already, the stack's launch factor included
    bool steps = false;  ///< goes token by token, each step of the stack's latency
};

/// What a pass needs, summed over its operations.
struct PassTotals {
    Seconds device;  ///< operations only
    Flops flops;
    Bytes bytes;  ///< through main memory (collectives excluded)
};

/// A model's pass on a platform, ready to be evaluated at any shape.
struct CompiledPass {
    std::vector<TimedOperation> operations;
    double launches = 0.0;    ///< kernels, the stack's launch factor included
    Seconds node_time;        ///< device-side gaps of all kernels
    Seconds launch_time;      ///< host time to launch them all; the device waits when this is longer
    Seconds host;             ///< host time before the pass
    Seconds step_time;        ///< latency that each new token of a sequence adds, in all scans that go token by token
    bool whole_pass = false;  ///< HOI mode: one max over the whole pass instead of one an operation
    Rates whole_pass_rates;
};

/// Adds one operation's share of a pass at this shape. Both faces of the evaluator are made of this function.
template <bool reads_context, bool has_experts, bool has_row_steps>
inline void accumulate(const OperationCost& cost, const Rates& rates, double runs, double memory_runs, const ShapeTerms& shape,
                       PassTotals& totals) {
    const Flops flops = flops_of<reads_context>(cost, shape);
    const Bytes bytes = bytes_of<reads_context, has_experts>(cost, shape);
    totals.device += operation_time<reads_context, has_row_steps>(cost, rates, shape, bytes, flops) * runs;
    totals.flops += flops * runs;
    totals.bytes += bytes * memory_runs;
}

/// The latency of scans that go token by token: with x = memory or compute time of a step, a scan of n tokens takes x + n·step.
inline Seconds step_time(const CompiledPass& pass, const ShapeTerms& shape) { return pass.step_time * shape.new_tokens; }

/// Time of a pass from its totals: max(device + gaps, launches on the host) + host. Zero operations cost nothing.
inline Seconds pass_time(const CompiledPass& pass, const PassTotals& totals) {
    const Seconds device =
        pass.whole_pass ? time_by(pass.whole_pass_rates, totals.bytes, totals.flops) : totals.device + pass.node_time;
    return (device > pass.launch_time ? device : pass.launch_time) + pass.host;
}

/// Calls visit<reads_context, has_experts, has_row_steps>() with the switches of this operation.
template <class Visit>
inline void dispatch(const TimedOperation& timed, Visit visit) {
    if (timed.operation.reads_context) {
        visit.template operator()<true, false, false>();
    } else if (timed.operation.expert_count > 0.0) {
        visit.template operator()<false, true, false>();
    } else if (timed.rates.rows.any) {
        visit.template operator()<false, false, true>();
    } else {
        visit.template operator()<false, false, false>();
    }
}

/// Totals of a pass at one shape: the per-point face.
PassTotals totals_of(const CompiledPass& pass, const PassShape& shape);

/// One operation of a pass, explained.
struct OperationEstimate {
    std::string name;
    OperationKind kind = OperationKind::linear;
    double count = 1.0;
    Flops flops;  ///< all `count` runs together, as are bytes and time
    Bytes bytes;
    Seconds time;
    Bound bound = Bound::memory;
    double share = 0.0;  ///< of the sum over operations
};

/// Every operation of a pass at one shape; times include each operation's share of the device-side launch gaps.
std::vector<OperationEstimate> explain(const CompiledPass& pass, const PassShape& shape);

/// How a pass picks tokens from its logits.
enum class Sampling {
    none,       ///< no logits are used: the pass ends before the final norm and the LM head
    greedy,     ///< one read of the logits
    rejection,  ///< softmax and rejection sampling, section 1: about 12·(2k+1)·V·b bytes
};

struct CompileOptions {
    PassOptions pass;
    Sampling sampling = Sampling::greedy;
    Seconds host;  ///< host time before the pass
};

/// Compiles a model's pass for a platform. `extra` operations run after the model's own (one-off parts of a drafter).
CompiledPass compile_pass(const Model& model, const Precision& precision, const Platform& platform, CompileOptions options,
                          const std::vector<Operation>& extra = {});

/// Compiles a bare list of operations (activation replay, for example); an empty list costs nothing.
CompiledPass compile_operations(std::vector<Operation> operations, const Precision& precision, const Platform& platform,
                                Seconds host);

}  // namespace treeline
