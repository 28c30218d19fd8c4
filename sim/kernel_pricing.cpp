#include "sim/kernel_pricing.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>

#include "sim/law_choice.h"
#include "sim/placement.h"

namespace treeline::sim {
namespace {

bool uses_matrix_units(const Operation& operation) {
    return operation.kind == OperationKind::linear || operation.kind == OperationKind::experts ||
           operation.kind == OperationKind::attention;
}

/// The part of an exchange that crosses a slow link: what stays among the ranks of a host takes the fastest one meanwhile.
/// Other collectives are priced as if all of their bytes did.
double share_over(const Interconnect& link, const Operation& operation, const Platform& platform) {
    const Interconnect& fastest = platform.device.interconnects.front();
    const bool exchange = operation.kernel == KernelClass::expert_dispatch || operation.kernel == KernelClass::expert_combine;
    return exchange && &link != &fastest && fastest.domain > 0.0 ? 1.0 - fastest.domain / operation.ranks : 1.0;
}

/// Of a way that does not exist.
constexpr Seconds never(std::numeric_limits<double>::infinity());

/// A library's collective as measured, or one latency and one bandwidth.
CollectiveLines lines_of_library(const ProtocolCosts& measured, Seconds latency, SecondsPerByte per_byte) {
    CollectiveLines lines;
    lines.one_shot = lines.two_shot = lines.bulk = never;
    lines.ring = latency;
    lines.ring_byte = per_byte;
    if (measured.measured()) {
        lines.ring = measured.latency;
        lines.bulk = measured.bulk_latency;
        lines.ring_byte = 1.0 / measured.bandwidth;
        lines.bulk_byte = 1.0 / measured.bulk_bandwidth;
    }
    return lines;
}

/// The bytes of an operation are those of a ring, 2·(t − 1)/t·S; one step moves (t − 1)·S.
void add_own(const OwnAllReduce& own, const Operation& operation, CollectiveLines& lines) {
    if (own.two_step_bandwidth > BytesPerSecond(0.0)) {
        lines.ring = own.two_step_latency;
        lines.ring_byte = 1.0 / own.two_step_bandwidth;
        lines.bulk = never;
    }
    if (own.limit > Bytes(0.0)) {
        lines.one_shot = own.latency;
        lines.one_shot_byte = 0.5 * operation.ranks / own.bandwidth;
        lines.limit = own.limit * (2.0 * (operation.ranks - 1.0) / operation.ranks);
        lines.own_up_to_limit = true;
    }
}

/// What the link's description says. An all-gather or a reduce-scatter is half an all-reduce, which is one after the other.
Rates collective_rates(const Interconnect& link, const Operation& operation, const Platform& platform) {
    Rates rates;
    const bool gathers = operation.kernel == KernelClass::all_gather;
    rates.startup = link.latency * (gathers ? 0.5 : 1.0);
    rates.per_byte = 1.0 / link.bandwidth * share_over(link, operation, platform);
    const bool scatters = operation.launches > 1.0;  // rows that are gathered and scattered
    if ((operation.kernel && !gathers) || scatters) {
        return rates;
    }
    const ProtocolCosts& measured = gathers ? link.gather : link.all_reduce;
    const OwnAllReduce own = gathers ? OwnAllReduce{} : link.own;
    if (measured.measured() || own.limit > Bytes(0.0)) {
        CollectiveLines lines = lines_of_library(measured, rates.startup, rates.per_byte);
        add_own(own, operation, lines);
        rates.rule = lines;
    }
    return rates;
}

Rates data_sheet_rates(const Operation& operation, const Platform& platform) {
    Rates rates;
    if (operation.kind == OperationKind::collective) {
        const Interconnect* link = link_between(platform, operation.ranks);
        return link != nullptr ? collective_rates(*link, operation, platform) : rates;
    }
    rates.per_byte = 1.0 / platform.device.bandwidth;
    rates.per_flop = 1.0 / platform.device.peak_for(operation.math);
    return rates;
}

/// How fast the engine runs this linear layer, or these experts, over how they are priced otherwise.
void apply_speed(const Operation& operation, const Platform& platform, Rates& rates) {
    LinearSpeed speed;
    if (operation.kind == OperationKind::linear) {
        speed = platform.stack.kernels.speed_of_linear(operation.math, platform.by_laws());
        speed.memory *= operation.math == NumberFormat::fp4 ? platform.stack.kernels.fp4_read_speed : 1.0;
    } else if (operation.kind == OperationKind::experts) {
        const double of_experts = platform.stack.kernels.speed_of_experts(platform.by_laws());
        speed = {of_experts, of_experts};
    }
    rates.per_byte = rates.per_byte / speed.memory;
    rates.per_flop = rates.per_flop / speed.compute;
}

/// Share of the peak bandwidth that the stack's kernels for this device reach.
double memory_share(const Platform& platform) {
    const double on_metal = platform.stack.kernels.metal_memory_efficiency;
    return platform.device.metal && on_metal > 0.0 ? on_metal : platform.stack.kernels.memory_efficiency;
}

/// Whether an attention is that of a prompt.
bool is_of_prompt(const Operation& operation) {
    return operation.kernel == KernelClass::prompt_attention || operation.kernel == KernelClass::prompt_window ||
           operation.kernel == KernelClass::latent_prompt;
}

/// What the stack's kernels reach of the data sheet, for operations without a measured law.
Rates stack_rates(const Operation& operation, const Platform& platform) {
    Rates rates = data_sheet_rates(operation, platform);
    if (operation.kind == OperationKind::collective) {
        return rates;
    }
    const Stack& stack = platform.stack;
    const bool scan = operation.kind == OperationKind::scan;
    rates.per_byte = rates.per_byte / memory_share(platform);
    rates.overlap = stack.kernels.unhidden;
    if (scan && !operation.sequential && operation.launches > 1.0) {
        rates.overlap = 1.0;  // kernels that run one after the other hide nothing of each other
    } else {
        rates.per_flop = rates.per_flop / (uses_matrix_units(operation) ? stack.kernels.compute_efficiency
                                           : scan                       ? stack.kernels.scan_efficiency
                                                                        : 1.0);
    }
    if (operation.kind == OperationKind::attention) {
        const bool on_vector_units = stack.kernels.vector_attention > 0.0 && !is_of_prompt(operation);
        rates.per_flop = on_vector_units ? 1.0 / (stack.kernels.vector_attention * platform.device.peak_for(NumberFormat::fp32))
                                         : rates.per_flop / stack.kernels.attention_efficiency;
    }
    if (operation.sequential) {
        rates.overlap = 1.0;  // the first step waits for the state, and every further one for the step before
    }
    // Counted once per kernel, however the law weighs its two sides.
    rates.startup = stack.kernels.startup(platform.by_laws()) * (operation.launches / (1.0 + rates.overlap));
    apply_speed(operation, platform, rates);
    return rates;
}

/// How the weights of a linear layer or of experts are stored.
Storage stored_as(const Operation& operation, const Precision& precision) {
    const Storage& otherwise = operation.part == ModelPart::head          ? precision.embeddings
                               : operation.kind == OperationKind::experts ? precision.experts
                                                                          : precision.weights;
    return weight_format(precision, operation.name, otherwise).storage;
}

NumberFormat stored_format(const Operation& operation, const Precision& precision) {
    return stored_as(operation, precision).format;
}

/// Whether a linear layer's weights are stored narrower than they are multiplied, so that a kernel of Marlin's kind unpacks
/// them.
bool unpacks_weights(const Operation& operation, const Precision& precision, const Platform& platform) {
    return operation.kind == OperationKind::linear &&
           bits_of(stored_format(operation, precision)) < bits_of(platform.device.computed_in(operation.math));
}

/// Whether the stack's kernels of a curve run this operation here.
bool suits(const RowCurve& curve, const Operation& operation, const Precision& precision, const Platform& platform) {
    const OperationKind kind = curve.of == CurveProducts::experts ? OperationKind::experts : OperationKind::linear;
    if (operation.kind != kind || (curve.devices == CurveDevices::metal && !platform.device.metal) ||
        platform.device.gpu_generation < curve.least_generation) {
        return false;
    }
    switch (curve.weights) {
        case CurveWeights::any:
            return true;
        case CurveWeights::narrow:
            return bits_of(stored_format(operation, precision)) <= 8.0;
        case CurveWeights::unpacked:
            return unpacks_weights(operation, precision, platform);
    }
    return false;
}

/// Rows that the products of a curve compute at least on this device, beyond few; 0 if they follow the rows.
double tile_on(const RowCurve& curve, const Device& device) {
    const bool has_matrix_units = device.peak_for(NumberFormat::fp16) > device.peak_for(NumberFormat::fp32);
    return has_matrix_units && curve.matrix_tile > 0.0 ? curve.matrix_tile : curve.tile;
}

/// Share of the peak bandwidth at which a curve's kernels read these weights: no more than vector units unpack.
double reading_share(const RowCurve& curve, const Storage& weights, const Platform& platform) {
    const double share = memory_share(platform);
    if (curve.least_unpacking <= 0.0 || weights.block <= 0.0) {
        return share;
    }
    const BytesPerSecond unpacked =
        weights.per_element() / (Flops(curve.least_unpacking) / platform.device.peak_for(NumberFormat::fp32));
    return std::min(share, unpacked / platform.device.bandwidth);
}

/// What one of few rows costs, in rows on matrix units at the rates of `law`.
double cost_of_few(const RowCurve& curve, const Operation& operation, const Platform& platform, const KernelLaw& law) {
    const Device& device = platform.device;
    const FlopsPerSecond on_matrix_units = law.peak_share * device.peak_for(operation.math);
    if (curve.few_rows_speed > 0.0) {
        return std::max(1.0, on_matrix_units / (curve.few_rows_speed * device.peak_for(NumberFormat::fp32)));
    }
    if (curve.reads_per_row <= 0.0) {
        return 1.0;
    }
    const bool experts = operation.kind == OperationKind::experts;
    const Bytes weights = experts ? operation.bytes.per_expert : operation.bytes.fixed;
    const Flops of_row =
        experts ? operation.flops.per_token / operation.expert_rows : operation.flops.per_token + operation.flops.per_logit;
    const Seconds read = weights / (law.bandwidth_share * device.bandwidth);
    return std::max(1.0, curve.reads_per_row * (read / (of_row / on_matrix_units)));
}

/// The law of a stack's own figures, with costs of rows as its curve says.
KernelLaw law_of(const RowCurve& curve, const Operation& operation, const Precision& precision, const Platform& platform) {
    const Stack& stack = platform.stack;
    const double most = curve.speed * platform.device.peak_for(NumberFormat::fp32).value();
    KernelLaw law;
    law.bandwidth_share = reading_share(curve, stored_as(operation, precision), platform);
    law.peak_share = stack.kernels.compute_efficiency;
    law.overlap = curve.hides ? 0.0 : 1.0;
    law.startup = stack.kernels.startup(platform.by_laws()) * (operation.launches / (1.0 + law.overlap));
    law.first_row = cost_of_few(curve, operation, platform, law);
    if (curve.speed > 0.0) {
        law.peak_share = std::min(law.peak_share, most / platform.device.peak_for(operation.math).value());
    }
    const double few = curve.few_rows, cost = few * law.first_row, tile = tile_on(curve, platform.device);
    std::size_t knot = 0;
    if (few > 1.0 || law.first_row > 1.0) {
        law.knots[knot++] = {few, law.first_row};
    }
    if (tile > std::max(few, cost)) {
        law.knots[knot++] = {few + 1.0, tile - cost};
    }
    if (const double full = std::max(cost, tile); full > few) {
        law.knots[knot] = {full, 0.0};
    }
    return law;
}

/// Products of few rows where a stack has kernels of its own for them (KernelNumbers::row_curves). Nothing where it has none.
std::optional<Rates> few_row_rates(const Operation& operation, const Precision& precision, const Platform& platform) {
    for (const RowCurve& curve : platform.stack.kernels.row_curves) {
        if (suits(curve, operation, precision, platform)) {
            return measured_rates(law_of(curve, operation, precision, platform), data_sheet_rates(operation, platform),
                                  operation);
        }
    }
    return std::nullopt;
}

/// The law of linear layers whose weights are unpacked: tiles of 8 rows or of whole 16 (m_block_size_8, and up to four blocks
/// of 16, in vLLM's gptq_marlin), since nothing hides empty rows behind so few bytes, and no whole waves of tiles: blocks share
/// what is left over. Dense Marlin kernels were not measured; shares of the rates are those of the layer's own law.
KernelLaw law_of_unpacked_weights(const KernelLaw& wide) {
    KernelLaw law = wide;
    law.row_tile = 16.0;
    law.least_tile = 8.0;
    law.padding = 1.0;
    law.tile_columns = 0.0;
    law.workers = 1.0;
    law.step_rows = 0.0;
    law.step_share = 0.0;
    return law;
}

/// Rates of a measured kernel as the engine runs it. Tables of 8-bit products include the quantisation of activations; where
/// the engine fuses that into the kernel before, products start up like 16-bit ones.
Rates rates_in_engine(const KernelLaw& law, const Operation& operation, const Precision& precision, const Platform& platform) {
    if (unpacks_weights(operation, precision, platform)) {
        return measured_rates(law_of_unpacked_weights(law), data_sheet_rates(operation, platform), operation);
    }
    KernelLaw used = law;
    const KernelLaw* wide = platform.device.calibration->law(KernelClass::gemm, NumberFormat::bf16);
    if (operation.kind == OperationKind::linear && platform.stack.kernels.fused_quantisation && wide != nullptr &&
        law.per_activation > Seconds(0.0)) {
        used.startup = std::min(law.startup, wide->startup);
        used.launch = std::min(law.launch, wide->launch);
        used.per_input = std::min(law.per_input, wide->per_input);
        used.per_activation = Seconds(0.0);
    }
    if (operation.kind == OperationKind::linear && platform.stack.kernels.fits_quantised_tiles &&
        law.per_activation > Seconds(0.0)) {
        used.row_tile = std::min(law.row_tile, 128.0);
        used.padding = 1.0;
    }
    Rates rates = measured_rates(used, data_sheet_rates(operation, platform), operation);
    if (operation.kind == OperationKind::experts) {
        rates.startup = std::max(Seconds(0.0), rates.startup - platform.stack.kernels.fused_experts);
    }
    apply_speed(operation, platform, rates);
    return rates;
}

/// Where the user picked other kernels for these experts, what they lose beyond few rows.
void apply_expert_kernels(const Operation& operation, const Precision& precision, const Platform& platform, Rates& rates) {
    const ExpertKernels& kernels = platform.stack.picked.expert_kernels;
    if (operation.kind == OperationKind::experts && !kernels.name.empty() &&
        weight_format(precision, operation.name, precision.experts).storage.format == kernels.weights) {
        rates.few_expert_rows = kernels.few_rows;
        rates.beyond_few_rows = kernels.more_readings / platform.device.bandwidth;
    }
}

/// Attention of keys and values by head, whose kernels an engine picks by device and cache; latent and sparse ones have their
/// own.
bool is_of_heads(const Operation& operation) { return !operation.kernel && operation.reads_per_token <= 0.0; }

/// For each cached token: as measured on the device where the engine picks the kernels by itself, or as they are described.
Seconds walk_of(const AttentionKernels& kernels, double head_width, const Platform& platform) {
    const bool measured = platform.stack.picked.attention_kernels.name.empty() && platform.by_laws() &&
                          !kernels.verify_walks.contains(platform.device.name) && platform.device.calibration &&
                          platform.device.calibration->attention_walk;
    return measured ? platform.device.calibration->attention_walk->per_token * (head_width / walk_head_width)
                    : verify_walk_of(kernels, platform.device, head_width);
}

/// How long one block walks along a cache, in the kernels that the user picked or that the engine picks to verify.
void apply_attention_kernels(const Operation& operation, const Precision& precision, const Platform& platform, Rates& rates) {
    if (operation.kind != OperationKind::attention || !operation.reads_context) {
        return;
    }
    const Stack& stack = platform.stack;
    const VerificationRule* rule = rule_for(stack.picked.verification_rules, platform.device, precision);
    const AttentionKernels* kernels = !stack.picked.attention_kernels.name.empty() ? &stack.picked.attention_kernels
                                      : rule != nullptr && is_of_heads(operation)  ? &rule->kernels
                                                                                   : nullptr;
    if (kernels == nullptr || kernels->name.empty()) {
        return;
    }
    rates.per_context = std::max(rates.per_context, kernels->decode_walk);
    rates.walk_of_several = std::max(rates.per_context, walk_of(*kernels, operation.head_dim, platform));
    if (kernels->row_tile > 0.0 && platform.device.multiprocessors > 0.0) {
        rates.walking_blocks = operation.cache_heads * operation.rows_per_token / platform.device.multiprocessors;
        rates.per_walk_rows = 1.0 / kernels->row_tile;
    }
}

/// Weights of types that are looked up in code books take their kernels longer than reading them (Storage::unpacking).
void apply_unpacking(const Operation& operation, const Precision& precision, const Platform& platform, Rates& rates) {
    if (operation.kind != OperationKind::linear && operation.kind != OperationKind::experts) {
        return;
    }
    const Storage storage = stored_as(operation, precision);
    if (storage.unpacking > 0.0) {
        const Seconds of_element = Flops(storage.unpacking) / platform.device.peak_for(NumberFormat::fp32);
        rates.per_byte += of_element / storage.per_element();
    }
}

/// The law of the engine's chain: as published for the device, else as measured there (of an engine that was not, the one with
/// the shortest steps).
const RecurrentVerificationLaw* chain_law(const Operation& operation, const Platform& platform) {
    const Stack& stack = platform.stack;
    const std::string_view family = operation.delta_rule && !stack.picked.delta_rule_kernels.empty()
                                        ? std::string_view(stack.picked.delta_rule_kernels)
                                        : stack.engine_word();
    for (const RecurrentVerificationLaw& law : platform.device.recurrent_verification) {
        if (law.family == family) {
            return &law;
        }
    }
    return platform.device.calibration->recurrent_verification_law(family);
}

/// Chains that write a recurrent state after each token.
std::optional<Rates> recurrent_chain_rates(const Operation& operation, const Platform& platform) {
    if (!platform.by_laws() || !platform.device.calibration || operation.kind != OperationKind::scan ||
        operation.kernel != KernelClass::scan_every || platform.stack.kernels.runs_treeline_kernels) {
        return std::nullopt;
    }
    const RecurrentVerificationLaw* law = chain_law(operation, platform);
    if (law == nullptr || law->convolves) {
        return std::nullopt;
    }
    Rates rates;
    rates.startup = law->startup;
    rates.per_byte = 1.0 / (platform.device.bandwidth * law->bandwidth_share);
    rates.overlap = law->overlap;
    rates.rule = TokenChain{law->per_token,
                            law->per_head * (operation.items.per_sequence / std::max(platform.device.multiprocessors, 1.0))};
    return rates;
}

/// Prompts of delta rules through the engine's chunk kernels.
std::optional<Rates> chunk_scan_rates(const Operation& operation, const Platform& platform) {
    const bool in_chunks = operation.kind == OperationKind::scan && operation.launches > 1.0;
    if (!in_chunks || !(operation.delta_rule || operation.channel_delta_rule) || !platform.by_laws() ||
        !platform.device.calibration || platform.stack.kernels.runs_treeline_kernels) {
        return std::nullopt;
    }
    const Device& device = platform.device;
    const ChunkScanLaw* law = device.calibration->chunk_scan_law(platform.stack.engine_word(), operation.channel_delta_rule);
    if (law == nullptr) {
        return std::nullopt;
    }
    Rates rates;
    rates.startup = law->startup;
    rates.per_byte = law->traffic / device.bandwidth;
    rates.overlap = law->overlap;
    rates.rule = ChunkChain{
        law->per_token, law->per_head * (operation.items.per_sequence / std::max(device.multiprocessors, 1.0)), device.cache};
    return rates;
}

PricedKernel price_as_built_in(const Operation& operation, const Precision& precision, const Platform& platform) {
    if (const std::optional<Rates> rates = recurrent_chain_rates(operation, platform)) {
        return {*rates, true};
    }
    if (const std::optional<Rates> rates = chunk_scan_rates(operation, platform)) {
        return {*rates, true};
    }
    if (const KernelLaw* law = law_that_prices(operation, precision, platform)) {
        return {rates_in_engine(*law, operation, precision, platform), true};
    }
    if (const std::optional<Rates> rates = few_row_rates(operation, precision, platform)) {
        return {*rates, false};
    }
    return {stack_rates(operation, platform), false};
}

}  // namespace

PricedKernel price_kernel(const Operation& operation, const Precision& precision, const Platform& platform) {
    if (const std::optional<PricedKernel> on_host = price_on_host(operation, precision, platform)) {
        return *on_host;
    }
    PricedKernel priced = price_as_built_in(operation, precision, platform);
    apply_unpacking(operation, precision, platform, priced.rates);
    apply_expert_kernels(operation, precision, platform, priced.rates);
    apply_attention_kernels(operation, precision, platform, priced.rates);
    return priced;
}

}  // namespace treeline::sim
