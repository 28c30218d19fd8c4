#include "sim/pass.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace treeline::sim {
namespace {

/// HOI mode prices an operation by its parameters, caches and states alone.
Operation parameters_and_caches(const Operation& operation, const Precision& precision) {
    Operation reduced = operation;
    reduced.flops = {};
    reduced.bytes = {};
    reduced.flops.per_token = Flops(2.0 * operation.active_elements);
    if (operation.kind == OperationKind::experts) {
        reduced.bytes.per_expert = operation.bytes.per_expert;
    } else {
        const Storage storage = weight_format(precision, operation.name, precision.weights).storage;
        reduced.bytes.fixed = storage.per_element() * operation.weight_elements;
    }
    reduced.bytes.per_context = operation.bytes.per_context;
    if (operation.kind == OperationKind::scan) {
        reduced.bytes.per_sequence = operation.bytes.per_sequence;
    }
    return reduced;
}

std::vector<Operation> body_only(const std::vector<Operation>& operations, const Precision& precision) {
    std::vector<Operation> body;
    for (const Operation& operation : operations) {
        if (operation.part == ModelPart::body && operation.kind != OperationKind::collective) {
            body.push_back(parameters_and_caches(operation, precision));
        }
    }
    return body;
}

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

Rates data_sheet_rates(const Operation& operation, const Platform& platform) {
    Rates rates;
    if (operation.kind == OperationKind::collective) {
        if (const Interconnect* link = link_between(platform, operation.ranks)) {
            rates.startup = link->latency;
            rates.per_byte = 1.0 / link->bandwidth * share_over(*link, operation, platform);
        }
        return rates;
    }
    rates.per_byte = 1.0 / platform.device.bandwidth;
    rates.per_flop = 1.0 / platform.device.peak_for(operation.math);
    return rates;
}

bool by_laws(const Platform& platform) { return platform.mode == CostMode::calibrated; }

/// How fast the engine runs this linear layer, or these experts, over how they are priced otherwise.
void apply_speed(const Operation& operation, const Platform& platform, Rates& rates) {
    LinearSpeed speed;
    if (operation.kind == OperationKind::linear) {
        speed = platform.stack.speed_of_linear(operation.math, by_laws(platform));
    } else if (operation.kind == OperationKind::experts) {
        const double of_experts = platform.stack.speed_of_experts(by_laws(platform));
        speed = {of_experts, of_experts};
    }
    rates.per_byte = rates.per_byte / speed.memory;
    rates.per_flop = rates.per_flop / speed.compute;
}

/// What the stack's kernels reach of the data sheet, for operations without a measured law.
Rates stack_rates(const Operation& operation, const Platform& platform) {
    Rates rates = data_sheet_rates(operation, platform);
    if (operation.kind == OperationKind::collective) {
        return rates;
    }
    const Stack& stack = platform.stack;
    const bool scan = operation.kind == OperationKind::scan;
    rates.per_byte = rates.per_byte / stack.memory_efficiency;
    rates.overlap = stack.unhidden;
    if (scan && !operation.sequential && operation.launches > 1.0) {
        rates.overlap = 1.0;  // kernels that run one after the other hide nothing of each other
    } else {
        rates.per_flop = rates.per_flop / (uses_matrix_units(operation) ? stack.compute_efficiency
                                           : scan                       ? stack.scan_efficiency
                                                                        : 1.0);
    }
    if (operation.kind == OperationKind::attention) {
        rates.per_flop = rates.per_flop / stack.attention_efficiency;
    }
    if (operation.sequential) {
        rates.overlap = 1.0;  // the first step waits for the state, and every further one for the step before
    }
    // Counted once per kernel, however the law weighs its two sides.
    rates.startup = stack.startup_of_kernels(by_laws(platform)) * (operation.launches / (1.0 + rates.overlap));
    apply_speed(operation, platform, rates);
    return rates;
}

/// Rows that a tile of the stack's matrix products computes at least on this device; 1 if they follow the rows.
double row_tile_on(const Stack& stack, const Device& device) {
    const bool has_matrix_units = device.peak_for(NumberFormat::fp16) > device.peak_for(NumberFormat::fp32);
    return std::max(1.0, has_matrix_units ? stack.matrix_row_tile : stack.row_tile);
}

/// The law of a stack's own figures, with costs of rows to be added: reading and computing do not overlap.
KernelLaw law_of_few_rows(const Operation& operation, const Platform& platform) {
    KernelLaw law;
    law.bandwidth_share = platform.stack.memory_efficiency;
    law.peak_share = platform.stack.compute_efficiency;
    law.overlap = 1.0;
    law.startup = platform.stack.startup_of_kernels(by_laws(platform)) * (0.5 * operation.launches);
    return law;
}

/// Experts where a stack's kernels read an expert for each of its rows (Stack::expert_rows): a row takes as long as that. From
/// expert_rows on one kernel serves them all, and further rows cost nothing until its products take as long.
std::optional<Rates> few_expert_rows_rates(const Operation& operation, const Platform& platform) {
    const Stack& stack = platform.stack;
    if (stack.expert_rows <= 0.0) {
        return std::nullopt;
    }
    KernelLaw law = law_of_few_rows(operation, platform);
    law.overlap = 0.0;
    law.startup = 2.0 * law.startup;
    const Seconds read = operation.bytes.per_expert / (stack.memory_efficiency * platform.device.bandwidth);
    const Seconds computed = operation.flops.per_token / operation.expert_rows /
                             (stack.compute_efficiency * platform.device.peak_for(operation.math));
    law.first_row = std::max(1.0, read / computed);
    law.knots[0] = {stack.expert_rows, law.first_row};
    law.knots[1] = {stack.expert_rows * law.first_row, 0.0};
    return measured_rates(law, data_sheet_rates(operation, platform), operation);
}

/// Products of few rows where a stack has kernels of its own for them: on vector units with quantised weights
/// (Stack::vector_rows), until matrix units are as fast, and whole tiles on those (Stack::row_tile), but for a single row.
/// Nothing where there are none.
std::optional<Rates> few_row_rates(const Operation& operation, const Precision& precision, const Platform& platform) {
    if (operation.kind == OperationKind::experts) {
        return few_expert_rows_rates(operation, platform);
    }
    if (operation.kind != OperationKind::linear) {
        return std::nullopt;
    }
    const Stack& stack = platform.stack;
    const Storage& stored = operation.part == ModelPart::head ? precision.embeddings : precision.weights;
    const bool quantised = bits_of(weight_format(precision, operation.name, stored).storage.format) <= 8.0;
    const double vector_rows = quantised ? stack.vector_rows : 0.0;
    const double tile = row_tile_on(stack, platform.device);
    if (vector_rows <= 0.0 && tile <= 1.0) {
        return std::nullopt;
    }
    KernelLaw law = law_of_few_rows(operation, platform);
    double rows = 1.0, cost = 1.0;  // the last rows on vector units, and what they cost in rows on matrix units
    std::size_t knot = 0;
    if (vector_rows > 0.0) {
        const double on_matrix_units = stack.compute_efficiency * platform.device.peak_for(operation.math).value();
        const double on_vector_units = stack.vector_efficiency * platform.device.peak_for(NumberFormat::fp32).value();
        law.first_row = std::max(1.0, on_matrix_units / on_vector_units);
        rows = vector_rows;
        cost = vector_rows * law.first_row;
        law.knots[knot++] = {rows, law.first_row};
    }
    if (tile > std::max(rows, cost)) {
        law.knots[knot++] = {rows + 1.0, tile - cost};
    }
    law.knots[knot] = {std::max({rows, cost, tile}), 0.0};
    return measured_rates(law, data_sheet_rates(operation, platform), operation);
}

/// All-reduces were measured over the fastest link of one host. Another link, or more hosts, is priced from its own figures.
/// Exchanges of experts' rows have laws of their own; gathers and hops between stages have none.
const KernelLaw* law_of_collective(const Operation& operation, const Precision& precision, const Platform& platform) {
    const Interconnect* link = link_between(platform, operation.ranks);
    if (link == nullptr || link != platform.device.interconnects.data()) {
        return nullptr;
    }
    const KernelClass kernel = operation.kernel.value_or(KernelClass::all_reduce);
    const std::string_view family = kernel == KernelClass::all_reduce     ? std::string_view(platform.stack.collectives)
                                    : operation.exchanged_rows_are_merged ? normal_family
                                                                          : low_latency_family;
    return platform.device.calibration->law(kernel, precision.activations.format, family);
}

/// Prompts and latent caches have kernels of their own; where those were not measured, decode attention stands in.
const KernelLaw* law_of_attention(const Operation& operation, const Precision& precision, const Calibration& calibration) {
    const NumberFormat format = precision.kv_cache.format;
    if (operation.kernel) {
        const std::string_view family = prompt_family(operation.head_dim);
        if (const KernelLaw* law = calibration.law(*operation.kernel, format, family)) {
            return law;
        }
    }
    return calibration.law(operation.shares_cache ? KernelClass::attention : KernelClass::attention_ungrouped, format);
}

/// The law of Marlin's kernels, which unpack 4-bit weights and multiply in 16 bits: in the stored format, or else in int4.
const KernelLaw* law_of_weight_only_experts(NumberFormat stored, const Calibration& calibration) {
    const KernelLaw* found = nullptr;
    for (const CalibratedKernel& known : calibration.kernels) {
        const bool marlin = known.kernel == KernelClass::experts && known.family == marlin_family;
        if (marlin && (known.format == stored || (found == nullptr && known.format == NumberFormat::int4))) {
            found = &known.law;
        }
    }
    return found;
}

/// Whether experts are stored in 4 bits and multiplied in 16: int4, and fp4 on devices without units for it.
bool are_weight_only(NumberFormat stored, const Platform& platform) {
    return stored == NumberFormat::int4 ||
           (stored == NumberFormat::fp4 && platform.device.computed_in(NumberFormat::fp4) != NumberFormat::fp4);
}

/// Experts cut by tensor parallelism run as Triton kernels in vLLM; other engines' were not measured. Those that are multiplied
/// in 16 bits from 4 run as Marlin kernels, in vLLM and in SGLang. Kernels for fp4 units were not measured, but for those of
/// the tables, which engines outrun by a quarter to a half on B200 (tests/validation/serving_tpot.cpp): such experts keep the
/// law of linear layers, which comes nearer.
const KernelLaw* law_of_experts(const Operation& operation, const Precision& precision, const Platform& platform) {
    const NumberFormat stored = weight_format(precision, operation.name, precision.experts).storage.format;
    const Calibration& calibration = *platform.device.calibration;
    const KernelLaw* law = are_weight_only(stored, platform) ? law_of_weight_only_experts(stored, calibration) : nullptr;
    if (law == nullptr && stored != NumberFormat::fp4) {
        law = calibration.law(KernelClass::experts, stored, triton_family);
    }
    return law != nullptr ? law : calibration.law(KernelClass::gemm, platform.device.computed_in(operation.math));
}

/// The law of the measured kernel that runs an operation; null if there is none.
const KernelLaw* law_of(const Operation& operation, const Precision& precision, const Platform& platform) {
    if (platform.mode != CostMode::calibrated || !platform.device.calibration || operation.launches <= 0.0) {
        return nullptr;
    }
    const Calibration& calibration = *platform.device.calibration;
    const auto law = [&](KernelClass otherwise, NumberFormat format) {
        return calibration.law(operation.kernel.value_or(otherwise), format);
    };
    switch (operation.kind) {
        case OperationKind::linear:
            return law(KernelClass::gemm, platform.device.computed_in(operation.math));
        case OperationKind::experts:
            return law_of_experts(operation, precision, platform);
        case OperationKind::attention:
            return law_of_attention(operation, precision, calibration);
        case OperationKind::scan:
            return law(KernelClass::scan, precision.state.format);
        case OperationKind::convolution:
            return law(KernelClass::convolution, precision.activations.format);
        case OperationKind::element_wise:
            return law(KernelClass::element_wise, precision.activations.format);
        case OperationKind::logits:
            return law(KernelClass::sampling, NumberFormat::fp32);
        case OperationKind::collective:
            return law_of_collective(operation, precision, platform);
    }
    return nullptr;
}

/// Whether a linear layer's weights are stored narrower than they are multiplied, so that a kernel of Marlin's kind unpacks
/// them.
bool unpacks_weights(const Operation& operation, const Precision& precision, const Platform& platform) {
    if (operation.kind != OperationKind::linear) {
        return false;
    }
    const Storage& otherwise = operation.part == ModelPart::head ? precision.embeddings : precision.weights;
    const NumberFormat stored = weight_format(precision, operation.name, otherwise).storage.format;
    return bits_of(stored) < bits_of(platform.device.computed_in(operation.math));
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
    if (operation.kind == OperationKind::linear && platform.stack.fused_quantisation && wide != nullptr &&
        law.per_activation > Seconds(0.0)) {
        used.startup = std::min(law.startup, wide->startup);
        used.launch = std::min(law.launch, wide->launch);
        used.per_input = std::min(law.per_input, wide->per_input);
        used.per_activation = Seconds(0.0);
    }
    Rates rates = measured_rates(used, data_sheet_rates(operation, platform), operation);
    apply_speed(operation, platform, rates);
    return rates;
}

struct PricedKernel {
    Rates rates;
    bool measured = false;
};

PricedKernel price(const Operation& operation, const Precision& precision, const Platform& platform) {
    if (const KernelLaw* law = law_of(operation, precision, platform)) {
        return {rates_in_engine(*law, operation, precision, platform), true};
    }
    if (const std::optional<Rates> rates = few_row_rates(operation, precision, platform)) {
        return {*rates, false};
    }
    return {stack_rates(operation, platform), false};
}

/// A name of its own for an operation that frameworks run as other code than what it is called: norms with a bias are
/// LayerNorms, which they do not compose; scans that leave no state, and attention over a packed tree. Empty for all others.
std::string_view special_launch_name(const Operation& operation) {
    if (operation.kernel == KernelClass::norm && operation.weight_elements > operation.outputs) {
        return "layer norm";
    }
    if (operation.kernel == KernelClass::scan_unwritten) {
        return "unwritten state scan";
    }
    return operation.kind == OperationKind::attention && operation.masks_tree ? "tree attention" : "";
}

/// Kernels of one run as the stack launches them: by the special name if the stack lists it, else by the operation's own,
/// without the layer's.
double launches_of(const Operation& operation, const Stack& stack, bool in_calibrated_mode) {
    const std::string_view special = special_launch_name(operation);
    const bool listed = std::any_of(stack.launch_factors.begin(), stack.launch_factors.end(),
                                    [&](const OperationLaunches& entry) { return entry.operation == special; });
    const std::string_view name = operation.name;
    const std::size_t colon = name.rfind(": ");
    const std::string_view own = colon == std::string_view::npos ? name : name.substr(colon + 2);
    return operation.launches * stack.launches_of(listed ? special : own, in_calibrated_mode);
}

Bound bound_of(const TimedOperation& timed, const OperationSides& sides, Seconds gap) {
    if (timed.operation.kind == OperationKind::collective) {
        return Bound::network;
    }
    const Seconds launch = gap + sides.startup;
    if (launch > sides.memory && launch > sides.compute) {
        return Bound::launch;
    }
    if (timed.rates.rule == RowRule::prompt) {
        return Bound::compute;  // its sides are all tiles together and the longest one
    }
    return sides.memory > sides.compute ? Bound::memory : Bound::compute;
}

}  // namespace

Operation sampling_operation(double vocabulary, Sampling sampling) {
    Operation operation;
    operation.name = "output: sampling";
    operation.kind = OperationKind::logits;
    operation.part = ModelPart::head;
    if (sampling == Sampling::greedy || sampling == Sampling::top) {
        if (sampling == Sampling::top) {
            operation.kernel = KernelClass::top_choices;
        }
        operation.flops.per_logit = Flops(vocabulary);
        operation.bytes.per_logit = Bytes(4.0 * vocabulary);
        operation.items.per_row = 1.0;
    } else {
        // k+1 target and k draft distributions: 12·(2·(k+1) − 1)·V·b bytes.
        operation.kernel = KernelClass::rejection;
        operation.flops.per_logit = Flops(10.0 * vocabulary);
        operation.bytes.per_logit = Bytes(24.0 * vocabulary);
        operation.bytes.per_sequence = Bytes(-12.0 * vocabulary);
        operation.items.per_sequence = 1.0;
        operation.launches = 3.0;
    }
    return operation;
}

const Interconnect* link_of(const Platform& platform) { return link_between(platform, platform.devices()); }

const Interconnect* link_between(const Platform& platform, double ranks) {
    if (ranks <= 1.0) {
        return nullptr;
    }
    for (const Interconnect& link : platform.device.interconnects) {
        if (link.joins(ranks) && (platform.interconnect.empty() || link.name == platform.interconnect)) {
            return &link;
        }
    }
    return nullptr;
}

CompiledPass compile_operations(std::vector<Operation> operations, const Precision& precision, const Platform& platform,
                                Seconds host) {
    CompiledPass pass;
    if (operations.empty()) {
        return pass;
    }
    if (platform.mode == CostMode::hoi) {
        pass.whole_pass = true;
        const FlopsPerSecond peak = platform.device.peak_for(precision.math);
        pass.whole_pass_rates.per_byte = platform.device.intensity_for(precision.math) / peak;
        pass.whole_pass_rates.per_flop = 1.0 / peak;
    }
    double gaps = 0.0;
    for (Operation& operation : operations) {
        const PricedKernel priced = price(operation, precision, platform);
        const double launches = launches_of(operation, platform.stack, by_laws(platform));
        // A measured kernel's time includes its own launch gap, but not those of other kernels that the stack launches beside
        // it.
        const double own_gaps = priced.measured ? std::max(0.0, launches - operation.launches) : launches;
        pass.launches += operation.count * launches;
        gaps += operation.count * own_gaps;
        const double runs = operation.count;
        const bool steps = operation.sequential && !priced.measured;
        pass.step_time += steps ? platform.stack.scan_step * runs : Seconds(0.0);
        const double memory_runs = operation.kind == OperationKind::collective ? 0.0 : runs;
        pass.operations.push_back({std::move(operation), priced.rates, runs, memory_runs, own_gaps, steps});
    }
    if (platform.mode != CostMode::hoi) {
        pass.node_time = platform.stack.node_cost * gaps;
        pass.launch_time = platform.stack.host_launch * pass.launches;
        pass.host = host;
        pass.time_factor = platform.stack.time_factor;
    } else {
        pass.step_time = Seconds(0.0);
    }
    return pass;
}

namespace {

/// A pass goes through every stage, and its tokens return to the first. A stage's ranks hand their activations on side by side.
void append_hops(const Model& model, const Precision& precision, const Platform& platform, std::vector<Operation>& operations) {
    if (platform.parallel.pipeline <= 1.0) {
        return;
    }
    Operation hop;
    hop.name = "pipeline: hop to the next stage";
    hop.kind = OperationKind::collective;
    hop.kernel = KernelClass::stage_hop;
    hop.count = platform.parallel.pipeline;
    hop.ranks = platform.devices();
    hop.bytes.per_token = precision.activations.per_element() * (static_cast<double>(model.width) / platform.ranks);
    operations.push_back(hop);
}

}  // namespace

CompiledPass compile_pass(const Model& model, const Precision& precision, const Platform& platform, CompileOptions options,
                          const std::vector<Operation>& extra) {
    options.pass.ranks = platform.ranks;
    options.pass.parallel = platform.parallel;
    options.pass.latent_heads_per_read = platform.device.latent_heads_per_read;
    options.pass.score_traffic = platform.stack.score_traffic;
    options.pass.concatenates_caches = platform.stack.concatenates_caches;
    options.pass.expands_caches = platform.stack.expands_caches;
    std::vector<Operation> operations = operations_of(model, precision, options.pass);
    append_hops(model, precision, platform, operations);
    if (options.sampling == Sampling::none) {  // no logits are wanted: the pass ends with the last layer
        std::erase_if(operations, [](const Operation& operation) { return operation.part == ModelPart::head; });
    } else {
        operations.push_back(sampling_operation(static_cast<double>(model.vocabulary_size) / platform.ranks, options.sampling));
    }
    if (platform.mode == CostMode::hoi) {
        operations = body_only(operations, precision);
    }
    operations.insert(operations.end(), extra.begin(), extra.end());
    CompiledPass pass = compile_operations(std::move(operations), precision, platform, options.host);
    if (platform.mode != CostMode::hoi) {
        double expert_layers = 0.0;
        for (const TimedOperation& timed : pass.operations) {
            expert_layers += timed.operation.kind == OperationKind::experts ? timed.operation.count : 0.0;
        }
        pass.node_time += platform.stack.per_layer * static_cast<double>(model.order.size()) +
                          platform.stack.per_expert_layer * expert_layers;
    }
    return pass;
}

PassTotals totals_of(const CompiledPass& pass, const PassShape& shape) {
    const ShapeTerms terms = terms_of(shape);
    PassTotals totals;
    totals.device = step_time(pass, terms);
    for_each_operation(pass, [&](const TimedOperation& timed) {
        dispatch(timed.operation, timed.operation.reads_context, timed.rates.rule,
                 [&]<bool reads_context, bool has_experts, RowRule rule>() {
                     accumulate<reads_context, has_experts, rule>(timed.operation, timed.rates, timed.runs, timed.memory_runs,
                                                                  terms, totals);
                 });
    });
    return totals;
}

std::vector<OperationEstimate> explain(const CompiledPass& pass, const PassShape& shape) {
    const ShapeTerms of_pass = terms_of(shape);
    double gaps = 0.0, scans = 0.0;
    for (const TimedOperation& timed : pass.operations) {
        gaps += timed.operation.count * timed.gaps;
        scans += timed.steps ? timed.runs : 0.0;
    }
    const Seconds step = scans > 0.0 ? pass.step_time / scans : Seconds(0.0);
    const Seconds one_gap = gaps > 0.0 ? pass.node_time / gaps : Seconds(0.0);
    std::vector<OperationEstimate> estimates;
    Seconds sum;
    for (const TimedOperation& timed : pass.operations) {
        const Operation& operation = timed.operation;
        const Seconds gap = one_gap * timed.gaps;
        dispatch(timed.operation, timed.operation.reads_context, timed.rates.rule,
                 [&]<bool reads_context, bool has_experts, RowRule rule>() {
                     const ShapeTerms terms = own_shape<has_experts>(operation, of_pass);
                     const Flops flops = flops_of<reads_context>(operation, terms);
                     const Bytes bytes = bytes_of<reads_context, has_experts>(operation, terms);
                     const Seconds device = pass.whole_pass ? whole_pass_time(pass, bytes, flops)
                                                            : operation_time<reads_context, has_experts, rule>(
                                                                  operation, timed.rates, terms, bytes, flops);
                     const OperationSides sides =
                         sides_of<reads_context, has_experts, rule>(operation, timed.rates, terms, bytes, flops);
                     const Seconds steps = timed.steps ? step * terms.new_tokens : Seconds(0.0);
                     const Seconds time = (device + steps + gap) * operation.count;
                     estimates.push_back({operation.name, operation.kind, operation.count, flops * operation.count,
                                          bytes * operation.count, time, bound_of(timed, sides, gap), 0.0});
                     sum += time;
                 });
    }
    for (OperationEstimate& estimate : estimates) {
        estimate.share = sum > Seconds(0.0) ? estimate.time / sum : 0.0;
    }
    return estimates;
}

}  // namespace treeline::sim
