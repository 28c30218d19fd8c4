// Where verification turns compute-bound, and whether training a drafter pays: docs/cost-model.md, sections 5.3 and 5.4.
#pragma once

#include <optional>

#include "sim/device.h"
#include "sim/operations.h"

namespace treeline::sim {

/// What the critical points of a model depend on.
struct CriticalInputs {
    double active_parameters = 0.0;  ///< N, body only
    Bytes weight_bytes;              ///< of the body, all of them streamed once a pass
    Bytes cache_per_token;           ///< κ: keys and values of one token, all layers
    FlopsPerByte intensity;          ///< HOI
};

CriticalInputs critical_inputs(const Model& model, const Precision& precision, const Device& device);

/// The context below which verifying `tokens` tokens a sequence can become compute-bound at some batch: 2·v·N/(κ·HOI);
/// unlimited for a model without a key-value cache. (SPIRe's Figure 3 counts v = k and rounds down to a power of two.)
double critical_context(const CriticalInputs& inputs, double tokens);

/// The batch from which it is compute-bound at that context: weights·HOI/(2·v·N − s·κ·HOI); nothing if no batch makes it so.
std::optional<double> critical_batch(const CriticalInputs& inputs, double tokens, double context);

/// SPIRe's cost analysis, in any one unit of money: the decoding that a throughput multiplier saves, and what is left of it
/// after training the drafter.
struct TrainingCost {
    double decoding_budget = 0.0;  ///< what decoding costs without speculation
    double draft_training = 0.0;   ///< what training the drafter costs
};

/// D·(1 − 1/multiplier).
double decoding_saved(const TrainingCost& cost, double throughput_multiplier);

/// decoding_saved − draft_training: negative if the drafter does not pay.
double net_saving(const TrainingCost& cost, double throughput_multiplier);

/// The decoding budget above which the drafter pays; nothing if it never does (multiplier ≤ 1).
std::optional<double> break_even_decoding(const TrainingCost& cost, double throughput_multiplier);

}  // namespace treeline::sim
