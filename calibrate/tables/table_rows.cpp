#include "calibrate/tables/table_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "calibrate/routing.h"
#include "json/wording.h"
#include "text/parse_number.h"

namespace treeline::calibrate {
namespace {

constexpr double most_rows = 1024.0;

/// How tables name weights with scales of their own.
constexpr sim::Storage nvfp4_weights{sim::NumberFormat::fp4, 16.0, 8.0};
constexpr sim::Storage block_fp8_weights{sim::NumberFormat::fp8, 128.0 * 128.0, 32.0};

/// Linear layers with scales of groups, by each engine's kernels. Six copies of the weights are measured in turn, and none that
/// together take twice the cache was read faster than memory allows.
ConvertedRow scaled_linear_row(TableRow& row, bool blocks) {
    const sim::Storage& weights = blocks ? block_fp8_weights : nvfp4_weights;
    const double m = row.number("m", 1), n = row.number("n", 1), k = row.number("k", 1);
    KernelSample sample = linear_sample(m, n, k, weights.format, row.time());
    sample.operation.bytes.fixed = weights.per_element() * (n * k);
    ConvertedRow converted{sim::KernelClass::gemm, weights.format, sample, sample.operation.bytes.fixed * 3.0, m <= most_rows};
    converted.family = row.text("framework") + (blocks ? ", " + std::string(sim::block_scaled) : "");
    return converted;
}

ConvertedRow linear_row(TableRow& row) {
    if (const std::string dtype = row.text("dtype"); dtype == "nvfp4" || dtype == "fp8_block") {
        return scaled_linear_row(row, dtype == "fp8_block");
    }
    const sim::NumberFormat format = row.format("dtype");
    const double m = row.number("m", 1), n = row.number("n", 1), k = row.number("k", 1);
    const KernelSample sample = linear_sample(m, n, k, format, row.time());
    // Half the weights count: tables are measured with several copies in turn, which stay in the cache together more easily.
    return {sim::KernelClass::gemm, format, sample, sample.operation.bytes.fixed * 0.5, m <= most_rows};
}

ConvertedRow attention_row(TableRow& row) {
    const sim::NumberFormat format = row.format("kv_dtype");
    const AttentionShape shape{row.number("batch", 1),   row.number("query_tokens", 1), row.number("context", 1),
                               row.number("q_heads", 1), row.number("kv_heads", 1),     row.number("head_dim", 1),
                               row.number("window", 0)};
    const bool grouped = shape.query_heads > shape.kv_heads;
    return {grouped ? sim::KernelClass::attention : sim::KernelClass::attention_ungrouped, format,
            attention_sample(shape, format, row.time()), cache_bytes(shape, format)};
}

ConvertedRow recurrent_row(TableRow& row) {
    const sim::NumberFormat format = row.format("state_dtype");
    const RecurrentShape shape{row.number("batch", 1), row.number("tokens", 1), row.number("heads", 1),
                               row.number("head_k_dim", 1), row.number("head_v_dim", 1)};
    const bool alone = row.number("fused_conv", 0) == 0.0;
    return {sim::KernelClass::scan, format, recurrent_sample(shape, format, row.time()),
            state_bytes(shape, format) * shape.batch, alone};
}

/// SGLang's verification rows run the one-token kernel over batch · tokens rows, which only approximates serving (README of the
/// tables).
ConvertedRow convolution_row(TableRow& row) {
    const bool update = row.text("phase") != "context";
    const bool stand_in = row.text("phase") == "verify" && row.has("framework") && row.text("framework") == "sglang";
    const double batch = row.number("batch", 1), tokens = row.number("tokens", 1);
    const double channels = row.number("channels", 1), width = row.number("d_conv", 1);
    const sim::NumberFormat activations = row.has("dtype") ? row.format("dtype") : sim::NumberFormat::bf16;
    const KernelSample sample = convolution_sample(batch, tokens, channels, width, activations, row.time());
    const Bytes traffic = sim::bytes_of<false, false>(sample.operation, terms_of(sample.shape));
    return {sim::KernelClass::convolution, activations, sample, traffic, update && !stand_in};
}

/// The format whose kernels a llama.cpp model runs, by the bits of a weight: 4.5 in Q4_0, 8.5 in Q8_0, 16 in F16.
sim::NumberFormat format_of_weights(double bits) {
    return bits > 24.0   ? sim::NumberFormat::fp32
           : bits > 12.0 ? sim::NumberFormat::fp16
           : bits > 6.0  ? sim::NumberFormat::int8
                         : sim::NumberFormat::int4;
}

/// A whole pass of llama-bench: every linear layer of the model at once. At depth 0 it does little else.
ConvertedRow llama_row(TableRow& row) {
    const double tokens = row.number("tokens", 1), context = row.number("context", 0);
    const double bytes = row.number("model_bytes", 1), parameters = row.number("parameters", 1);
    KernelSample sample{row.text("model"), {}, {tokens, 1.0, 0.0, 1.0}, row.time()};
    sample.operation.flops.per_token = Flops(2.0 * parameters);
    sample.operation.bytes.fixed = Bytes(bytes);
    sample.whole_pass = true;
    return {sim::KernelClass::gemm, format_of_weights(8.0 * bytes / parameters), sample, Bytes(bytes), context == 0.0};
}

/// Forms of Mamba-2 scans; the simulator has a class of kernels for each.
ConvertedRow mamba2_row(TableRow& row) {
    constexpr std::array scans = {Mamba2Scan::none_written, Mamba2Scan::final_written, Mamba2Scan::every_written,
                                  Mamba2Scan::tree, Mamba2Scan::replay};
    const Mamba2Scan scan = scans[row.choice("form", {"none", "final", "every", "tree", "replay"})];
    const sim::NumberFormat activations = row.format("dtype"), state = row.format("state_dtype");
    const auto count = [&](const char* name) { return static_cast<sim::Count>(row.number(name, 1)); };
    const Mamba2Shape shape{row.number("batch", 1), row.number("tokens", 1), count("heads"), count("head_dim"),
                            count("state_size")};
    const KernelSample sample = mamba2_sample(scan, shape, activations, state, row.time());
    const double elements = static_cast<double>(shape.heads * shape.head_dim * shape.state_size);
    return {sample.operation.kernel.value_or(sim::KernelClass::scan), state, sample,
            sim::Storage{state}.per_element() * (elements * shape.batch)};
}

/// A prompt of Mamba-2, scanned in chunks.
ConvertedRow mamba2_prompt_row(TableRow& row) {
    const auto count = [&](const char* name) { return static_cast<sim::Count>(row.number(name, 1)); };
    const sim::NumberFormat activations = row.format("dtype"), state = row.format("state_dtype");
    const Mamba2Shape shape{row.number("batch", 1), row.number("tokens", 1), count("heads"),
                            count("head_dim"),      count("state_size"),     count("chunk")};
    const KernelSample sample = mamba2_sample(Mamba2Scan::prompt, shape, activations, state, row.time());
    return {sim::KernelClass::scan, state, sample, bytes_at(sample)};
}

StepScanShape step_scan_shape(TableRow& row) {
    return {row.number("batch", 1), row.number("tokens", 1), row.choice("form", {"final", "every"}) == 1};
}

ConvertedRow mamba1_row(TableRow& row) {
    sim::Mamba1 layer;
    layer.inner = static_cast<sim::Count>(row.number("channels", 1));
    layer.state = static_cast<sim::Count>(row.number("state_size", 1));
    const sim::NumberFormat state = row.format("state_dtype");
    const KernelSample sample = mamba1_sample(step_scan_shape(row), layer, state, row.time());
    return {sample.operation.kernel.value_or(sim::KernelClass::scan), state, sample, bytes_at(sample)};
}

ConvertedRow delta_row(TableRow& row) {
    const auto count = [&](const char* name) { return static_cast<sim::Count>(row.number(name, 1)); };
    sim::GatedDelta layer;
    layer.key_heads = count("key_heads");
    layer.value_heads = count("value_heads");
    layer.key_dim = count("key_dim");
    layer.value_dim = count("value_dim");
    const sim::NumberFormat state = row.format("state_dtype");
    const KernelSample sample = delta_sample(step_scan_shape(row), layer, state, row.time());
    return {sample.operation.kernel.value_or(sim::KernelClass::scan), state, sample, bytes_at(sample)};
}

ConvertedRow element_wise_row(TableRow& row) {
    constexpr std::array forms = {ElementWiseForm::norm, ElementWiseForm::gated_norm, ElementWiseForm::activation,
                                  ElementWiseForm::rotary};
    const ElementWiseForm form = forms[row.choice("operation", {"rms_norm", "gated_rms_norm", "gated_activation", "rotary"})];
    const sim::NumberFormat activations = row.format("dtype");
    const double rows = row.number("rows", 1), width = row.number("width", 1);
    const KernelSample sample = element_wise_sample(form, rows, width, activations, row.time());
    return {sample.operation.kernel.value_or(sim::KernelClass::element_wise), activations, sample, bytes_at(sample)};
}

/// Rejection sampling was measured with every drafted token standing, which is what the simulator prices.
ConvertedRow sampling_row(TableRow& row) {
    constexpr std::array methods = {sim::Sampling::greedy, sim::Sampling::rejection, sim::Sampling::top};
    const sim::Sampling sampling = methods[row.choice("method", {"greedy", "rejection", "top_choices"})];
    const double batch = row.number("batch", 1), tokens = row.number("tokens", 1);
    const KernelSample sample = sampling_sample(sampling, batch, tokens, row.number("vocabulary", 2), row.time());
    return {sample.operation.kernel.value_or(sim::KernelClass::sampling), sim::NumberFormat::fp32, sample, bytes_at(sample)};
}

/// Everything of it is in the cache after the layer before, in serving as in the table: it always counts.
constexpr Bytes always_counts(std::numeric_limits<double>::infinity());

ConvertedRow prompt_row(TableRow& row) {
    const sim::NumberFormat format = row.format("kv_dtype");
    const double tokens = row.number("tokens", 1);
    const AttentionShape shape{
        row.number("batch", 1), tokens, tokens, row.number("q_heads", 1), row.number("kv_heads", 1), row.number("head_dim", 1),
        row.number("window", 0)};
    return {shape.window > 0.0 ? sim::KernelClass::prompt_window : sim::KernelClass::prompt_attention,
            format,
            attention_sample(shape, format, row.time()),
            always_counts,
            shape.head_dim <= sim::widest_common_head,
            std::string(sim::prompt_family(shape.head_dim))};
}

ConvertedRow latent_row(TableRow& row) {
    const sim::NumberFormat format = row.format("kv_dtype");
    const bool prompt = row.choice("phase", {"decode", "prefill"}) == 1;
    const LatentShape shape{row.number("heads", 1), row.number("batch", 1), row.number("query_tokens", 1),
                            row.number("context", 1), prompt};
    const KernelSample sample = latent_sample(shape, format, row.time());
    const Bytes cached = sample.operation.bytes.per_context * (shape.batch * shape.context);
    return {prompt ? sim::KernelClass::latent_prompt : sim::KernelClass::latent_attention,
            format,
            sample,
            prompt ? always_counts : cached,
            true,
            {},
            true};
}

/// How a table names the weights of experts, and what they are stored in.
struct ExpertFormat {
    std::string_view name;
    sim::Storage storage;
    std::string_view suffix;  ///< of the family's name
};
constexpr std::array expert_formats = {
    ExpertFormat{"bf16", {sim::NumberFormat::bf16}, ""},
    ExpertFormat{"fp8", {sim::NumberFormat::fp8}, ", per tensor"},
    ExpertFormat{"fp8_block", block_fp8_weights, ""},
    ExpertFormat{"int4_wo", {sim::NumberFormat::int4, 32.0, 16.0}, ""},
    ExpertFormat{"w4a16_mxfp4", {sim::NumberFormat::fp4, 32.0, 8.0}, ""},
    ExpertFormat{"nvfp4", nvfp4_weights, ", nvfp4"},
    ExpertFormat{"w4a8_mxfp4_mxfp8", {sim::NumberFormat::fp4, 32.0, 8.0}, ", mxfp8"},
};

/// "triton" of "unquantizedfusedmoe_triton_tritonexperts". vLLM 0.14 says only "fused_moe", which is Triton.
std::string expert_family(const std::string& kernel) {
    for (const char* family : {"cutlass", "trtllm", "marlin", "oaitriton", "treeline"}) {
        if (kernel.find(family) != std::string::npos) {
            return family;
        }
    }
    return std::string(sim::triton_family);
}

/// Experts of these shapes have no gate (Nemotron 3); vLLM 0.14 ran them with one all the same.
bool is_gated(double hidden, double intermediate, const std::string& kernel) {
    const bool without = (hidden == 2688.0 && intermediate == 1856.0) || (hidden == 1024.0 && intermediate == 2688.0) ||
                         (hidden == 2048.0 && intermediate == 5120.0);
    return !without || kernel == "fused_moe";
}

/// Experts dealt out over ranks (ep above 1) are left out: the simulator cuts them all.
ConvertedRow expert_row(TableRow& row) {
    std::vector<std::string> names;
    for (const ExpertFormat& format : expert_formats) {
        names.emplace_back(format.name);
    }
    const ExpertFormat& format = expert_formats[row.choice("dtype", names)];
    const bool balanced = row.choice("distribution", {"balanced", "power_law_1.2"}) == 0;
    const std::string kernel = row.text("kernel");
    const double hidden = row.number("hidden", 1), intermediate = row.number("intermediate", 1);
    ExpertShape shape{row.number("tokens", 1), hidden, intermediate / row.number("tp", 1), row.number("top_k", 1),
                      row.number("experts", 1)};
    shape.matrices = is_gated(hidden, intermediate, kernel) ? 3.0 : 2.0;
    shape.touched = touched_experts(balanced ? MeasuredRouting::balanced : MeasuredRouting::power_law, shape.tokens,
                                    shape.experts, shape.active);
    KernelSample sample = expert_sample(shape, format.storage, row.time());
    // Cuts of one model's experts are held out together, except where a format has few models.
    const bool few = sim::bits_of(format.storage.format) < 8.0;
    sample.site =
        few ? sample.site : fmt::format("{} experts of {} x {}, {} active", shape.experts, hidden, intermediate, shape.active);
    const Bytes weights = sample.operation.bytes.per_expert * shape.touched;
    return {sim::KernelClass::experts,
            format.storage.format,
            sample,
            weights * 0.5,
            row.number("ep", 1) == 1.0,
            expert_family(kernel) + std::string(format.suffix),
            true};
}

/// Launched one by one, a collective is bound by the host, which a stack's launches count.
ConvertedRow collective_row(TableRow& row) {
    const bool all_reduce = row.text("operation") == "all_reduce", eager = row.text("how") == "eager";
    const KernelSample sample = all_reduce_sample(row.number("ranks", 2), row.number("bytes", 1), row.time());
    return {sim::KernelClass::all_reduce, sim::NumberFormat::bf16, sample, always_counts,
            all_reduce && !eager,         row.text("library")};
}

/// Ours, over two devices.
ConvertedRow own_all_reduce_row(TableRow& row) {
    return {sim::KernelClass::all_reduce, row.format("dtype"),
            all_reduce_sample(row.number("ranks", 2), row.number("bytes", 1), row.time()), always_counts};
}

/// DeepEP's kernels within one host. Those for prompts run on a number of multiprocessors that engines choose; 20 is its own
/// default.
ConvertedRow exchange_row(TableRow& row) {
    const bool merged = row.choice("mode", {"low_latency", "normal"}) == 1;
    const bool dispatch = row.choice("operation", {"dispatch", "combine"}) == 0;
    sim::ExchangeShape shape;
    shape.width = row.number("hidden", 1);
    shape.active = row.number("top_k", 1);
    shape.experts = row.number("experts", 1);
    shape.ranks = row.number("ranks", 2);
    shape.rows = dispatch ? sim::quantised_rows : sim::Storage{sim::NumberFormat::bf16};
    shape.merged = merged;
    const sim::KernelClass kernel = dispatch ? sim::KernelClass::expert_dispatch : sim::KernelClass::expert_combine;
    const bool counts = !merged || row.number("sms", 0) == 20.0;
    return {kernel,
            sim::NumberFormat::bf16,
            exchange_sample(kernel, shape, row.number("tokens_per_rank", 1), row.time()),
            always_counts,
            counts,
            std::string(merged ? sim::normal_family : sim::low_latency_family)};
}

}  // namespace

std::string TableRow::text(std::string_view name) {
    const auto at = row_.values.find(name);
    if (at == row_.values.end()) {
        problem(fmt::format("has no column {}", name));
        return {};
    }
    return at->second;
}

double TableRow::number(std::string_view name, double least) {
    const std::string written = text(name);
    const std::optional<double> value = text::parse_number(written);
    if (good_ && !(value && *value >= least)) {
        problem(fmt::format("{} must be a number of at least {:g}, not \"{}\"", name, least, written));
    }
    return std::max(value.value_or(least), least);
}

sim::NumberFormat TableRow::format(std::string_view name) {
    const std::string written = text(name);
    const std::optional<sim::NumberFormat> found = value_named<sim::NumberFormat>(written);
    if (good_ && !found) {
        problem(fmt::format("{} \"{}\" is not a number format", name, written));
    }
    return found.value_or(sim::NumberFormat::bf16);
}

std::size_t TableRow::choice(std::string_view name, const std::vector<std::string>& words) {
    const std::string written = text(name);
    const auto found = std::find(words.begin(), words.end(), written);
    if (good_ && found == words.end()) {
        problem(fmt::format("{} must be {}, not \"{}\"", name, text::listed(words, "or"), written));
    }
    return found == words.end() ? 0 : static_cast<std::size_t>(found - words.begin());
}

void TableRow::problem(const std::string& sentence) {
    good_ = false;
    problems_.push_back(fmt::format("{}: {}", row_.place, sentence));
}

const std::vector<TableKind>& table_kinds() {
    static const std::vector<TableKind> kinds = {
        {"delta_rule", "rule", nullptr, "chunk kernels over prompts"},
        {"expert_exchange", "tokens_per_rank", exchange_row,
         "rows dispatched to experts and combined, within one host; kernels for prompts on 20 multiprocessors"},
        {"collectives", "library", collective_row, "all-reduces in graphs or as nccl-tests call them"},
        {"all_reduce", "ranks", own_all_reduce_row, "two devices that read each other's memory", "dtype",
         "all-reduces of their own and NCCL's"},
        {"experts",
         "intermediate",
         expert_row,
         "experts of one rank without expert parallelism, touched weights above twice the last-level cache or read in a tenth "
         "of the time",
         {},
         "Triton, Marlin and CUTLASS"},
        {"latent_attention", "heads", latent_row,
         "latent caches above the last-level cache or read in a tenth of the time; all prompts", "kv_dtype",
         "FlashMLA and FlashAttention"},
        {"attention_prefill", "tokens", prompt_row, "prompts without a cached part, heads up to 128 wide", "kv_dtype",
         "FlashAttention and FlashInfer"},
        {"host", "host_cost", nullptr, "what the host pays"},
        {"mamba1_scan", "channels", mamba1_row, "states from main memory", "state_size", "mamba_ssm's selective_scan"},
        {"delta_scan", "value_heads", delta_row, "states from main memory", "key_heads", "Triton (flash-linear-attention)"},
        {"mamba2_prompt", "chunk", mamba2_prompt_row, "prompts in chunks", "state_dtype", "Triton (mamba_ssm)"},
        {"mamba2_scan",
         "form",
         mamba2_row,
         "states above the last-level cache, or read from main memory otherwise",
         {},
         "Triton (mamba_ssm)"},
        {"element_wise", "operation", element_wise_row, "rows from main memory"},
        {"sampling", "method", sampling_row, "logits from main memory"},
        {"probe", "probe", nullptr, "bandwidth"},
        {"launch", "launches", nullptr, "empty launches"},
        {"decoder", "drafter", nullptr, "rounds of a decoder, held out"},
        {"layer", "family", nullptr, "whole layers, held out"},
        {"llama_bench", "model_bytes", llama_row, "whole passes of models above the last-level cache, without context"},
        {"gemm", "k", linear_row,
         "weights above twice the last-level cache (with scales of groups above a third of it), at most 1024 rows"},
        {"attention_decode",
         "kv_dtype",
         attention_row,
         "keys and values above the last-level cache",
         {},
         "FlashAttention and FlashInfer"},
        {"recurrent_verify",
         "state_dtype",
         recurrent_row,
         "kernels of the recurrence alone, live states above the last-level cache",
         {},
         "Triton (flash-linear-attention)"},
        {"conv1d",
         "d_conv",
         convolution_row,
         "updates whose traffic is above the last-level cache",
         {},
         "Triton (causal_conv1d)"},
    };
    return kinds;
}

const TableKind* kind_of(const MeasuredRow& row) {
    const auto benchmark = row.values.find("benchmark");
    for (const TableKind& kind : table_kinds()) {
        const auto has = [&](std::string_view column) { return column.empty() || row.values.find(column) != row.values.end(); };
        if (benchmark != row.values.end() ? benchmark->second == kind.name
                                          : has(kind.telling_column) && has(kind.second_column)) {
            return &kind;
        }
    }
    return nullptr;
}

}  // namespace treeline::calibrate
