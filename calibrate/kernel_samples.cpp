#include "calibrate/kernel_samples.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace treeline::calibrate {
namespace {

double bytes_per_element(sim::NumberFormat format) { return sim::Storage{format}.per_element().value(); }

sim::Precision precision_of(sim::NumberFormat activations, sim::NumberFormat state) {
    sim::Precision precision;
    precision.activations.format = activations;
    precision.state.format = state;
    return precision;
}

/// For a model that consists of this layer alone.
sim::Operation replay_of(const sim::Mamba2& layer, const sim::Precision& precision) {
    sim::Model model;
    model.kinds = {{"layer", {{layer}}}};
    model.order = {0};
    return sim::replay_operations(model, precision, 1.0, sim::Replay::own_pass).front();
}

}  // namespace

double activation_bytes(sim::NumberFormat format) { return format == sim::NumberFormat::fp32 ? 4.0 : 2.0; }

namespace {

bool is_matrix_kernel(sim::KernelClass kernel) {
    switch (kernel) {
        case sim::KernelClass::gemm:
        case sim::KernelClass::attention:
        case sim::KernelClass::attention_ungrouped:
        case sim::KernelClass::experts:
        case sim::KernelClass::latent_attention:
        case sim::KernelClass::latent_prompt:
        case sim::KernelClass::prompt_attention:
        case sim::KernelClass::prompt_window:
            return true;
        default:
            return false;
    }
}

}  // namespace

std::string title_of(const KernelTable& table) {
    return fmt::format("{}{}, {}", name_of(table.kernel), table.family.empty() ? "" : " (" + table.family + ")",
                       name_of(table.format));
}

sim::Rates data_sheet_of(const sim::Device& device, sim::KernelClass kernel, sim::NumberFormat format) {
    const bool matrix_units = is_matrix_kernel(kernel);
    sim::Rates rates;
    const bool collective = kernel == sim::KernelClass::all_reduce || kernel == sim::KernelClass::expert_dispatch ||
                            kernel == sim::KernelClass::expert_combine;
    if (collective && !device.interconnects.empty()) {
        rates.per_byte = 1.0 / device.interconnects.front().bandwidth;
        return rates;
    }
    if (kernel == sim::KernelClass::experts && format == sim::NumberFormat::int4) {
        format = sim::NumberFormat::bf16;  // weights alone are quantised
    }
    rates.per_byte = 1.0 / device.bandwidth;
    rates.per_flop = 1.0 / device.peak_for(matrix_units ? format : sim::NumberFormat::fp32);
    return rates;
}

Seconds predicted(const sim::KernelLaw& law, const sim::Rates& data_sheet, const KernelSample& sample) {
    const sim::Operation& operation = sample.operation;
    const sim::Rates rates = sim::measured_rates(law, data_sheet, operation);
    const sim::ShapeTerms terms = terms_of(sample.shape);
    Seconds time;
    sim::dispatch(operation, operation.reads_context, rates.rule,
                  [&]<bool reads_context, bool has_experts, class Rule>(const Rule& rule) {
                      time = sim::operation_time<reads_context, has_experts>(
                          rule, operation, rates, terms, sim::bytes_of<reads_context, has_experts>(operation, terms),
                          sim::flops_of<reads_context>(operation, terms));
                  });
    return time;
}

Bytes bytes_at(const KernelSample& sample) {
    const sim::ShapeTerms terms = terms_of(sample.shape);
    const sim::Operation& operation = sample.operation;
    return operation.reads_context        ? sim::bytes_of<true, false>(operation, terms)
           : operation.expert_count > 0.0 ? sim::bytes_of<false, true>(operation, terms)
                                          : sim::bytes_of<false, false>(operation, terms);
}

Flops flops_at(const KernelSample& sample) {
    const sim::ShapeTerms terms = terms_of(sample.shape);
    return sample.operation.reads_context ? sim::flops_of<true>(sample.operation, terms)
                                          : sim::flops_of<false>(sample.operation, terms);
}

KernelSample linear_sample(double m, double n, double k, sim::NumberFormat format, Seconds time) {
    KernelSample sample{fmt::format("n {} k {}", n, k), {}, {m, 1.0, 0.0, 1.0}, time};
    sim::Operation& operation = sample.operation;
    operation.inputs = k;
    operation.outputs = n;
    operation.flops.per_token = Flops(2.0 * n * k);
    operation.bytes.fixed = Bytes(bytes_per_element(format) * n * k);
    operation.bytes.per_token = Bytes(activation_bytes(format) * (n + k));
    return sample;
}

Bytes cache_bytes(const AttentionShape& shape, sim::NumberFormat cache) {
    const double seen = shape.window > 0.0 && shape.window < shape.context ? shape.window : shape.context;
    return Bytes(2.0 * bytes_per_element(cache) * shape.batch * shape.kv_heads * shape.head_dim * seen);
}

KernelSample attention_sample(const AttentionShape& shape, sim::NumberFormat cache, Seconds time) {
    KernelSample sample{fmt::format("{} heads on {} of {}{}", shape.query_heads, shape.kv_heads, shape.head_dim,
                                    shape.window > 0.0 ? fmt::format(", window {}", shape.window) : ""),
                        {},
                        {shape.batch, shape.query_tokens, shape.context - shape.query_tokens, shape.query_tokens},
                        time};
    sim::Operation& operation = sample.operation;
    operation.kind = sim::OperationKind::attention;
    operation.reads_context = true;
    operation.cache_heads = shape.kv_heads;
    operation.head_dim = shape.head_dim;
    operation.shares_cache = shape.query_heads > shape.kv_heads;
    operation.rows_per_token = shape.query_heads / shape.kv_heads;
    operation.outputs = shape.query_heads * shape.head_dim;
    operation.items.per_sequence = shape.kv_heads;
    if (shape.window > 0.0) {
        operation.reach.window = shape.window;
    }
    const Bytes cached(2.0 * bytes_per_element(cache) * shape.kv_heads * shape.head_dim);
    operation.flops.per_visible = Flops(4.0 * shape.query_heads * shape.head_dim);
    operation.bytes.per_context = cached;
    operation.bytes.per_token = cached + Bytes(activation_bytes(cache) * 2.0 * shape.query_heads * shape.head_dim);
    return sample;
}

KernelSample latent_sample(const LatentShape& shape, sim::NumberFormat cache, Seconds time) {
    sim::LatentAttention layer;
    layer.heads = static_cast<sim::Count>(shape.heads);
    layer.kv_lora_rank = 512;
    layer.nope_dim = 128;
    layer.rope_dim = 64;
    layer.value_dim = 128;
    sim::LayerContext context;
    context.precision.kv_cache.format = cache;
    context.pass = shape.prompt ? sim::PassKind::prefill : sim::PassKind::decode;
    std::vector<sim::Operation> operations;
    sim::append(layer, context, operations);
    const auto scores = std::find_if(operations.begin(), operations.end(), [](const sim::Operation& operation) {
        return operation.kind == sim::OperationKind::attention;
    });
    return {fmt::format("{} heads, batch {}", shape.heads, shape.batch),
            *scores,
            {shape.batch, shape.query_tokens, shape.context - shape.query_tokens, shape.query_tokens},
            time};
}

KernelSample expert_sample(const ExpertShape& shape, const sim::Storage& weights, Seconds time) {
    KernelSample sample{fmt::format("{} experts of {} x {}, {} active", shape.experts, shape.hidden, shape.width, shape.active),
                        {},
                        {shape.tokens, 1.0, 0.0, 1.0},
                        time};
    sim::Operation& operation = sample.operation;
    const double elements = shape.matrices * shape.hidden * shape.width;
    operation.kind = sim::OperationKind::experts;
    operation.expert_count = shape.experts;
    operation.expert_rows = shape.active;
    // Such that the tokens of this very shape touch as many experts as the measured routing did.
    operation.log_miss = shape.touched < shape.experts ? std::log1p(-shape.touched / shape.experts) / shape.tokens : -1e3;
    operation.inputs = shape.hidden + shape.width;
    operation.bytes.per_expert = weights.per_element() * elements;
    operation.bytes.per_token = Bytes(2.0 * shape.active * (2.0 * shape.hidden + (shape.matrices + 1.0) * shape.width));
    operation.flops.per_token = Flops(2.0 * shape.active * elements);
    return sample;
}

KernelSample all_reduce_sample(double ranks, double bytes, Seconds time) {
    KernelSample sample{fmt::format("{} bytes", bytes), {}, {}, time};
    sample.operation.kind = sim::OperationKind::collective;
    sample.operation.ranks = ranks;
    sample.operation.bytes.per_token = Bytes(2.0 * (ranks - 1.0) / ranks * bytes);
    return sample;
}

KernelSample exchange_sample(sim::KernelClass kernel, const sim::ExchangeShape& shape, double tokens, Seconds time) {
    KernelSample sample{
        fmt::format("{} wide, {} of {} experts", shape.width, shape.active, shape.experts), {}, {tokens, 1.0, 0.0, 1.0}, time};
    sample.operation.kernel = kernel;
    sim::set_exchange(shape, sample.operation);
    return sample;
}

Bytes state_bytes(const RecurrentShape& shape, sim::NumberFormat state) {
    return Bytes(bytes_per_element(state) * shape.heads * shape.key_dim * shape.value_dim);
}

KernelSample recurrent_sample(const RecurrentShape& shape, sim::NumberFormat state, Seconds time) {
    KernelSample sample{
        fmt::format("{} heads of {} x {}, {} tokens", shape.heads, shape.key_dim, shape.value_dim, shape.tokens),
        {},
        {shape.batch, shape.tokens, 0.0, shape.tokens},
        time};
    sim::Operation& operation = sample.operation;
    operation.kind = sim::OperationKind::scan;
    const Bytes one_state = state_bytes(shape, state);
    // q, k, v in, o out, a decay a key channel, beta a head: as sim/layers/gated_delta.cpp counts them.
    const double inputs = shape.heads * (3.0 * shape.key_dim + 2.0 * shape.value_dim + 1.0);
    operation.flops.per_token = Flops(7.0 * shape.heads * shape.key_dim * shape.value_dim);
    operation.bytes.per_sequence = one_state;
    operation.bytes.per_token = one_state + Bytes(2.0 * inputs);  // 16-bit activations
    operation.outputs = shape.heads * shape.value_dim;
    operation.items.per_sequence = shape.heads;
    return sample;
}

KernelSample convolution_sample(double batch, double tokens, double channels, double width, sim::NumberFormat activations,
                                Seconds time) {
    const double bytes = activation_bytes(activations);
    KernelSample sample{fmt::format("{} channels, {} tokens", channels, tokens), {}, {batch, tokens, 0.0, tokens}, time};
    sim::Operation& operation = sample.operation;
    operation.kind = sim::OperationKind::convolution;
    operation.flops.per_token = Flops(2.0 * channels * width);
    operation.bytes.fixed = Bytes(bytes * channels * width);
    operation.bytes.per_token = Bytes(bytes * 2.0 * channels);
    operation.bytes.per_sequence = Bytes(bytes * 2.0 * channels * (width - 1.0));
    operation.outputs = channels;
    operation.items.per_sequence = channels / sim::channels_of_an_item;
    return sample;
}

KernelSample mamba2_sample(Mamba2Scan scan, const Mamba2Shape& shape, sim::NumberFormat activations, sim::NumberFormat state,
                           Seconds time) {
    sim::Mamba2 layer;
    layer.heads = shape.heads;
    layer.head_dim = shape.head_dim;
    layer.state = shape.state_size;
    layer.chunk = shape.chunk;
    const sim::RecurrentState recurrent = sim::recurrent_state(layer, 1.0);
    sim::LayerContext context;
    context.precision = precision_of(activations, state);
    context.writes = scan == Mamba2Scan::final_written   ? sim::StateWrites::final_state
                     : scan == Mamba2Scan::every_written ? sim::StateWrites::every_state
                                                         : sim::StateWrites::none;
    context.pass = scan == Mamba2Scan::prompt ? sim::PassKind::prefill : sim::PassKind::decode;
    context.verification = scan == Mamba2Scan::tree ? sim::Verification::packed : sim::Verification::unrolled;
    KernelSample sample{fmt::format("{} heads of {} x {}", shape.heads, shape.head_dim, shape.state_size),
                        sim::state_scan(context, recurrent),
                        {shape.batch, shape.tokens, 0.0, shape.tokens},
                        time};
    if (scan == Mamba2Scan::replay) {
        sample.operation = replay_of(layer, context.precision);
    }
    return sample;
}

namespace {

KernelSample step_scan_sample(const StepScanShape& shape, const sim::RecurrentState& recurrent, sim::NumberFormat state,
                              std::string site, Seconds time) {
    sim::LayerContext context;
    context.precision = precision_of(sim::NumberFormat::bf16, state);
    context.writes = shape.writes_every ? sim::StateWrites::every_state : sim::StateWrites::final_state;
    return {std::move(site), sim::state_scan(context, recurrent), {shape.batch, shape.tokens, 0.0, shape.tokens}, time};
}

}  // namespace

KernelSample mamba1_sample(const StepScanShape& shape, const sim::Mamba1& layer, sim::NumberFormat state, Seconds time) {
    return step_scan_sample(shape, sim::recurrent_state(layer, 1.0), state,
                            fmt::format("{} channels of {}", layer.inner, layer.state), time);
}

KernelSample delta_sample(const StepScanShape& shape, const sim::GatedDelta& layer, sim::NumberFormat state, Seconds time) {
    KernelSample sample = step_scan_sample(
        shape, sim::recurrent_state(layer, 1.0), state,
        fmt::format("{} on {} heads of {} x {}", layer.value_heads, layer.key_heads, layer.key_dim, layer.value_dim), time);
    sample.operation.delta_rule = true;
    return sample;
}

KernelSample delta_prompt_sample(const sim::GatedDelta& layer, double batch, double tokens, sim::NumberFormat state,
                                 Seconds time) {
    sim::LayerContext context;
    context.precision = precision_of(sim::NumberFormat::bf16, state);
    context.pass = sim::PassKind::prefill;
    return {fmt::format("{} heads, {} sequences", layer.value_heads, batch),
            sim::state_scan(context, sim::recurrent_state(layer, 1.0)),
            {batch, tokens, 0.0, tokens},
            time};
}

KernelSample element_wise_sample(ElementWiseForm form, double rows, double width, sim::NumberFormat activations, Seconds time) {
    sim::LayerContext context;
    context.precision = precision_of(activations, sim::NumberFormat::fp32);
    const sim::PassShape shape{rows, 1.0, 0.0, 1.0};
    switch (form) {
        case ElementWiseForm::norm:
            return {fmt::format("norm of {}", width), sim::residual_norm(context, "norm", width), shape, time};
        case ElementWiseForm::gated_norm:
            return {fmt::format("gated norm of {}", width), sim::gated_norm(context, width), shape, time};
        case ElementWiseForm::rotary:
            return {fmt::format("rotary of {}", width), sim::rotary_embedding(context, width), shape, time};
        case ElementWiseForm::activation:
            break;
    }
    return {fmt::format("activation of {}", width), sim::activation(context, "", width, true), shape, time};
}

KernelSample sampling_sample(sim::Sampling sampling, double batch, double tokens, double vocabulary, Seconds time) {
    return {fmt::format("vocabulary {}", vocabulary),
            sim::sampling_operation(vocabulary, sampling),
            {batch, tokens, 0.0, tokens},
            time};
}

}  // namespace treeline::calibrate
