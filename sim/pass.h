// Time of one forward pass on one platform: operations with rates, plus what the software stack adds.
#pragma once

#include <vector>

#include "sim/operations.h"
#include "sim/platform.h"
#include "sim/rates.h"

namespace treeline::sim {

/// An operation as evaluation sees it.
struct TimedOperation {
    OperationCost cost;
    Rates rates;
    double runs = 1.0;           ///< times it runs in one pass
    bool through_memory = true;  ///< its bytes pass through main memory; not those of collectives
    bool reads_context = false;

    [[nodiscard]] double memory_runs() const { return through_memory ? runs : 0.0; }
};

/// What such an operation is, and how the stack launches it.
struct LaunchedOperation : OperationDescription {
    double gaps = 0.0;   ///< launch gaps of one run that its rates do not already include; with the stack's launch factor
    bool steps = false;  ///< goes token by token; each step has the stack's latency
};

/// What a pass needs, summed over its operations.
struct PassTotals {
    Seconds device;  ///< operations only
    Flops flops;
    Bytes bytes;  ///< through main memory (collectives excluded)
};

/// The plain numbers of a CompiledPass, which loops over points copy.
struct PassConstants {
    double launches = 0.0;     ///< kernels, the stack's launch factor included
    Seconds node_time;         ///< device-side gaps between all kernels, and what the stack adds to each layer
    Seconds launch_time;       ///< host time to launch them all; the device waits when this is longer
    Seconds host;              ///< host time before the pass
    Seconds step_time;         ///< latency that each new token of a sequence adds, over all scans that go token by token
    double time_factor = 1.0;  ///< the stack's
    bool whole_pass = false;   ///< HOI mode: one max over the whole pass instead of one per operation
    Rates whole_pass_rates;
};

/// A model's pass on a platform, ready to be evaluated at any shape.
struct CompiledPass : PassConstants {
    std::vector<TimedOperation> operations;
    std::vector<LaunchedOperation> launched;  ///< of each of `operations`, in their order
};

/// Adds one operation's share of a pass at this shape. Both faces of the evaluator are built from this function.
template <bool reads_context, bool has_experts, class Rule>
inline void accumulate(const Rule& rule, const OperationCost& cost, const Rates& rates, double runs, double memory_runs,
                       const ShapeTerms& shape, PassTotals& totals) {
    const ShapeTerms own = own_shape<has_experts>(cost, shape);
    const Flops flops = flops_of<reads_context>(cost, own);
    const Bytes bytes = bytes_of<reads_context, has_experts>(cost, own);
    totals.device += operation_time<reads_context, has_experts>(rule, cost, rates, own, bytes, flops) * runs;
    totals.flops += flops * runs;
    totals.bytes += bytes * memory_runs;
}

/// The latency of scans that go token by token: a scan of n tokens takes this beside its memory and compute time.
inline Seconds step_time(const CompiledPass& pass, const ShapeTerms& shape) { return pass.step_time * shape.new_tokens; }

/// HOI mode: the pass as a single operation.
inline Seconds whole_pass_time(const PassConstants& pass, Bytes bytes, Flops flops) {
    const Rates& rates = pass.whole_pass_rates;
    return time_by({Seconds(0.0), bytes * rates.per_byte, flops * rates.per_flop}, rates.overlap);
}

/// Time of a pass from its totals: max(device + gaps, launches on the host) + host, times the stack's factor. Zero operations
/// cost nothing.
inline Seconds pass_time(const PassConstants& pass, const PassTotals& totals) {
    const Seconds device = pass.whole_pass ? whole_pass_time(pass, totals.bytes, totals.flops) : totals.device + pass.node_time;
    return ((device > pass.launch_time ? device : pass.launch_time) + pass.host) * pass.time_factor;
}

/// Calls visit(operation) in the order in which all faces add them up: first what no context changes, so that a grid of points
/// needs to do that part only once for all contexts.
template <class Visit>
inline void for_each_operation(const CompiledPass& pass, Visit visit) {
    for (const bool reads_context : {false, true}) {
        for (const TimedOperation& timed : pass.operations) {
            if (timed.reads_context == reads_context) {
                visit(timed);
            }
        }
    }
}

/// Totals of a pass at one shape: the per-point face.
PassTotals totals_of(const CompiledPass& pass, const PassShape& shape);

/// One operation of a pass, explained.
struct OperationEstimate {
    std::string name;
    OperationKind kind = OperationKind::linear;
    double count = 1.0;
    Flops flops;  ///< of all `count` runs together, as are bytes and time
    Bytes bytes;
    Seconds time;
    Bound bound = Bound::memory;
    double share = 0.0;  ///< of the sum over all operations
};

/// Every operation of a pass at one shape; times include each operation's share of the device-side launch gaps.
std::vector<OperationEstimate> explain(const CompiledPass& pass, const PassShape& shape);

/// How a pass picks tokens from its logits.
enum class Sampling {
    none,       ///< no logits are used: the pass ends before the final norm and the LM head
    greedy,     ///< one read of the logits
    top,        ///< the same for several tokens per row: a level of a draft tree
    rejection,  ///< softmax and rejection sampling: 12·(2k+1)·V·b bytes (docs/cost-model.md, section 1.5)
};

/// The operation that picks tokens from the logits of a pass, over `vocabulary` tokens on one rank. Not for Sampling::none.
Operation sampling_operation(double vocabulary, Sampling sampling);

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

}  // namespace treeline::sim
