// One operation of a forward pass: how many FLOPs and bytes it needs, as a low-degree polynomial in the shape of the pass.
//
// Compile, then evaluate: sim/layers/ turns a model into a short list of these once, and pricing a design point is a loop over
// about ten of them for each kind of layer. The tables of docs/cost-model.md, section 1, become coefficients in sim/layers/;
// how coefficients become FLOPs and bytes is written here and nowhere else.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "sim/enum_names.h"
#include "sim/kernel_law.h"
#include "sim/model.h"
#include "sim/units.h"

namespace treeline::sim {

/// Shape of one forward pass. Real numbers: expectations (accepted tokens, for example) are shapes too.
struct PassShape {
    double sequences = 1.0;  ///< b
    double tokens = 1.0;     ///< n, new tokens per sequence
    double context = 0.0;    ///< s, tokens already cached per sequence
    double logits = 1.0;     ///< tokens per sequence whose logits are needed (n in decoding, 1 in prefill)
};

/// The products of a shape that the polynomials need, computed once per pass.
struct ShapeTerms {
    double sequences;    ///< b
    double tokens;       ///< M = b·n
    double logits;       ///< b·logits
    double token_pairs;  ///< b·n², masks and tree scans
    double new_tokens;   ///< n
    double context;      ///< s
};

inline ShapeTerms terms_of(const PassShape& shape) {
    const double tokens = shape.sequences * shape.tokens;
    return {shape.sequences, tokens, shape.sequences * shape.logits, tokens * shape.tokens, shape.tokens, shape.context};
}

enum class OperationKind { linear, attention, scan, convolution, element_wise, experts, logits, collective };
constexpr auto names_in(OperationKind) {
    using enum OperationKind;
    return enum_names<OperationKind>({{linear, "linear"},
                                      {attention, "attention"},
                                      {scan, "scan"},
                                      {convolution, "convolution"},
                                      {element_wise, "element-wise"},
                                      {experts, "experts"},
                                      {logits, "logits"},
                                      {collective, "collective"}});
}

/// Where in the model an operation belongs. Drafters may share both ends with their target, and SPIRe's counts leave them out.
enum class ModelPart { embedding, body, head };

enum class Bound { memory, compute, network, launch };
constexpr auto names_in(Bound) {
    using enum Bound;
    return enum_names<Bound>({{memory, "memory"}, {compute, "compute"}, {network, "network"}, {launch, "launch"}});
}

/// FLOPs = per_token·M + per_logit·L + per_sequence·b + per_token_pair·b·n² + per_visible·V (+ per_context·b·reach(s))
/// with V = cached and new tokens that the new tokens attend to, summed over the new tokens of all sequences.
struct FlopTerms {
    Flops per_token{}, per_logit{}, per_sequence{}, per_token_pair{}, per_visible{};
};

/// bytes = fixed + per_token·M + per_logit·L + per_sequence·b + per_token_pair·b·n² + per_context·R + per_expert·U
/// with R = cached tokens read, b·reach(s) unless sequences share some (cached_reads), and U = expected number of distinct
/// experts that M tokens touch.
struct ByteTerms {
    Bytes fixed{}, per_token{}, per_logit{}, per_sequence{}, per_token_pair{}, per_context{}, per_expert{};
};

/// Indivisible parts of an operation, each done by one worker (a core, for example): a number for each token (or logit), and
/// one for each sequence.
struct WorkItems {
    double per_row = 0.0, per_sequence = 0.0;
};

/// The coefficients of one run of an operation: all that its evaluation needs.
struct OperationCost {
    FlopTerms flops;
    ByteTerms bytes;
    ContextReach reach;         ///< the part of the context that it sees (attention only)
    double expert_count = 0.0;  ///< E; 0 = not a mixture of experts
    // ExpertPopularity: a token leaves an expert untouched with probability exp(log_miss), one of the hot ones
    // exp(log_miss_hot).
    double log_miss = 0.0, log_miss_hot = 0.0, hot_share = 0.0;
    double own_routing = 1.0;  ///< of a token after the first of its sequence: the rest of its choice is the one before it
    double expert_rows = 0.0;  ///< rows of experts for each token: the active experts of one rank
    // Experts dealt out over ranks: M tokens of the pass bring the busiest rank what share·M + spread·√M tokens, at most
    // most·M, would bring a rank in the mean (BusiestRank; tokens of all attention data parallel groups reach the experts).
    double busiest_share = 1.0, busiest_spread = 0.0, busiest_most = 1.0;
    double reads_per_token = 0.0;  ///< how often a cache is read for each new token of its sequence; 0 = once for all
    /// Of the context that it sees, the tokens that all sequences share (RoundSetup::shared_prefix), and what reading those
    /// takes for a sequence after the first, over a read from memory.
    double shared_context = 0.0, shared_read = 1.0;
};

/// Where an operation runs, and its weights lie (sim/placement.h).
enum class Placed { on_device, on_host, streamed };

/// What an operation is: what picks its kernel and its rates, and what tables say of it.
struct OperationDescription {
    std::string name;  ///< "attention: qkv projection"
    OperationKind kind = OperationKind::linear;
    ModelPart part = ModelPart::body;
    double count = 1.0;            ///< times it runs in one pass; FLOPs, bytes and weights below are for one run
    double launches = 1.0;         ///< kernels of one run
    double weight_elements = 0.0;  ///< parameters it holds (one copy); they sum to the model's parameter count
    double weight_copies = 1.0;    ///< distinct copies of those parameters in the model (count, unless layers share weights)
    double active_elements = 0.0;  ///< those of weight_elements that one token uses (fewer only in a mixture of experts)
    Bytes stored;                  ///< bytes of one copy of its parameters on each device
    bool reads_context = false;    ///< per_visible or per_context is set
    std::optional<ContextReach> keeps = {};  ///< of the context, what stays cached, where that is more than `reach` reads
    bool absorbed = false;                   ///< a prompt that meets latents as in decoding (Stack::sparse_prompt_heads)
    bool delta_rule = false;                 ///< a scan of a delta rule with one decay for each head (Gated DeltaNet)
    bool channel_delta_rule = false;         ///< likewise with one decay for each channel (Kimi Delta Attention)
    bool sequential = false;                 ///< a scan token by token, in which each step waits for the one before
    NumberFormat math = NumberFormat::fp32;  ///< of its FLOPs: selects the device's peak; vector units compute in fp32
    // What measured laws may depend on besides bytes and FLOPs, all for one rank.
    std::optional<KernelClass> kernel = {};  ///< class whose measured law prices it, if not the one of its kind
    double inputs = 0.0;                     ///< k of a linear layer; width in and within of an expert
    double outputs = 0.0;                    ///< elements written for each token (logit)
    double cache_heads = 0.0;                ///< key-value heads of an attention
    double head_dim = 0.0;                   ///< width of those heads
    bool shares_cache = true;                ///< several query heads read the keys and values of one head
    double rows_per_token = 1.0;             ///< query heads that share them
    double ranks = 1.0;                      ///< among which a collective runs
    double exchanged_experts = 0.0;          ///< among which a dispatch or combine deals its rows
    bool exchanged_rows_are_merged = false;  ///< a row goes once to each rank, not once for each of its experts
    bool masks_tree = false;                 ///< an attention over the tokens of a packed tree
    WorkItems items;                         ///< what is divided among workers; none = evenly
    Placed placed = Placed::on_device;
};

struct Operation : OperationCost, OperationDescription {};

/// Cached tokens that an attention with this reach sees, out of s.
inline double visible_context(const ContextReach& reach, double context) {
    const double scaled = reach.scale * context + (reach.scale < 1.0 ? reach.sink : 0.0);
    const double limit = reach.window + reach.sink;
    return scaled < limit ? scaled : limit;
}

/// Sum over n new tokens of what each sees: token i (1…n) sees min(reach(s) + i, limit) tokens, itself included.
/// Without a window: n·(reach(s) + (n+1)/2).
inline double visible_sum(const ContextReach& reach, double context, double new_tokens) {
    const double cached = visible_context(reach, context);
    const double limit = reach.window + reach.sink;
    const double room = limit - cached;
    const double growing = room < new_tokens ? room : new_tokens;  // tokens that see all before them
    const double growing_sum = growing * (cached + 0.5 * (growing + 1.0));
    const double saturated = new_tokens - growing;
    return saturated > 0.0 ? growing_sum + saturated * limit : growing_sum;
}

/// exp(x) for x ≤ 0 to a relative 1e-9, by (Σ (x/256)^j/j!)^256 with x clamped at −32: no libm call, so loops over points
/// vectorise.
inline double exp_of_nonpositive(double x) {
    const double y = (x > -32.0 ? x : -32.0) * (1.0 / 256.0);
    constexpr double inverse[] = {1.0 / 7, 1.0 / 6, 1.0 / 5, 1.0 / 4, 1.0 / 3, 1.0 / 2, 1.0};
    double sum = 1.0;
    for (const double factor : inverse) {
        sum = 1.0 + y * factor * sum;
    }
    for (int squaring = 0; squaring < 8; ++squaring) {
        sum *= sum;
    }
    return sum;
}

/// Tokens that would touch as many experts if each chose for itself: b·(1 + own_routing·(n − 1)) of b·n.
inline double independent_tokens(const OperationCost& cost, const ShapeTerms& shape) {
    const double first = shape.new_tokens > 1.0 ? 1.0 / shape.new_tokens : 1.0;
    return shape.tokens * (cost.own_routing + (1.0 - cost.own_routing) * first);
}

/// Expected number of distinct experts that `tokens` tokens touch: E·(1 − (1 − active/E)^tokens) under uniform routing, of two
/// kinds of experts where some are more popular.
inline double expected_experts(const OperationCost& cost, double tokens) {
    return cost.expert_count * (1.0 - (1.0 - cost.hot_share) * exp_of_nonpositive(cost.log_miss * tokens) -
                                cost.hot_share * exp_of_nonpositive(cost.log_miss_hot * tokens));
}
inline double expected_experts(const OperationCost& cost, const ShapeTerms& shape) {
    return expected_experts(cost, independent_tokens(cost, shape));
}

/// The shape with which experts are priced: tokens are those that the busiest rank seems to have.
inline ShapeTerms busiest_shape(const OperationCost& cost, const ShapeTerms& shape) {
    ShapeTerms busiest = shape;
    const double tokens = cost.busiest_share * shape.tokens + cost.busiest_spread * std::sqrt(shape.tokens);
    const double most = cost.busiest_most * shape.tokens;
    busiest.tokens = tokens < most ? tokens : most;
    return busiest;
}

/// The shape with which an operation is priced.
template <bool has_experts>
inline ShapeTerms own_shape(const OperationCost& cost, const ShapeTerms& shape) {
    if constexpr (has_experts) {
        return busiest_shape(cost, shape);
    } else {
        return shape;
    }
}

/// FLOPs of one run. The two switches leave out terms that the caller knows to be zero; they never change the value.
template <bool reads_context>
inline Flops flops_of(const OperationCost& cost, const ShapeTerms& shape) {
    const FlopTerms& c = cost.flops;
    Flops sum = c.per_token * shape.tokens + c.per_logit * shape.logits + c.per_sequence * shape.sequences +
                c.per_token_pair * shape.token_pairs;
    if constexpr (reads_context) {
        sum += c.per_visible * (shape.sequences * visible_sum(cost.reach, shape.context, shape.new_tokens));
    }
    return sum;
}

/// Cached tokens that an operation reads, as many as would take the same time from memory: every sequence reads what it sees,
/// once or for each new token; for sequences after the first, what all share counts `shared_read`.
inline double cached_reads(const OperationCost& cost, const ShapeTerms& shape) {
    const double for_tokens = cost.reads_per_token * shape.new_tokens;
    const double reads = for_tokens > 1.0 ? for_tokens : 1.0;
    const double seen = visible_context(cost.reach, shape.context);
    const double shared = seen < cost.shared_context ? seen : cost.shared_context;
    const double others = shape.sequences > 1.0 ? shape.sequences - 1.0 : 0.0;
    return (shape.sequences * seen - others * shared * (1.0 - cost.shared_read)) * reads;
}

/// Bytes of one run.
template <bool reads_context, bool has_experts>
inline Bytes bytes_of(const OperationCost& cost, const ShapeTerms& shape) {
    const ByteTerms& c = cost.bytes;
    Bytes sum = c.fixed + c.per_token * shape.tokens + c.per_logit * shape.logits + c.per_sequence * shape.sequences +
                c.per_token_pair * shape.token_pairs;
    if constexpr (reads_context) {
        sum += c.per_context * cached_reads(cost, shape);
    }
    if constexpr (has_experts) {
        sum += c.per_expert * expected_experts(cost, shape);
    }
    return sum;
}

}  // namespace treeline::sim
