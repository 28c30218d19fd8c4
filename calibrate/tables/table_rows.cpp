#include "calibrate/tables/table_rows.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "json/wording.h"

namespace treeline {
namespace {

constexpr double most_rows = 1024.0;

ConvertedRow linear_row(TableRow& row) {
    const NumberFormat format = row.format("dtype");
    const double m = row.number("m", 1), n = row.number("n", 1), k = row.number("k", 1);
    const KernelSample sample = linear_sample(m, n, k, format, row.time());
    // Half the weights count: tables are measured with several copies in turn, which stay in the cache together more easily.
    return {KernelClass::gemm, format, sample, sample.operation.bytes.fixed * 0.5, m <= most_rows};
}

ConvertedRow attention_row(TableRow& row) {
    const NumberFormat format = row.format("kv_dtype");
    const AttentionShape shape{row.number("batch", 1),   row.number("query_tokens", 1), row.number("context", 1),
                               row.number("q_heads", 1), row.number("kv_heads", 1),     row.number("head_dim", 1),
                               row.number("window", 0)};
    const bool grouped = shape.query_heads > shape.kv_heads;
    return {grouped ? KernelClass::attention : KernelClass::attention_ungrouped, format,
            attention_sample(shape, format, row.time()), cache_bytes(shape, format)};
}

ConvertedRow recurrent_row(TableRow& row) {
    const NumberFormat format = row.format("state_dtype");
    const RecurrentShape shape{row.number("batch", 1), row.number("tokens", 1), row.number("heads", 1),
                               row.number("head_k_dim", 1), row.number("head_v_dim", 1)};
    const bool alone = row.number("fused_conv", 0) == 0.0;
    return {KernelClass::scan, format, recurrent_sample(shape, format, row.time()), state_bytes(shape, format) * shape.batch,
            alone};
}

/// SGLang's verification rows run the one-token kernel over batch · tokens rows, which only approximates serving (README of the
/// tables).
ConvertedRow convolution_row(TableRow& row) {
    const bool update = row.text("phase") != "context";
    const bool stand_in = row.text("phase") == "verify" && row.has("framework") && row.text("framework") == "sglang";
    const double batch = row.number("batch", 1), tokens = row.number("tokens", 1);
    const double channels = row.number("channels", 1), width = row.number("d_conv", 1);
    const NumberFormat activations = row.has("dtype") ? row.format("dtype") : NumberFormat::bf16;
    const KernelSample sample = convolution_sample(batch, tokens, channels, width, activations, row.time());
    const Bytes traffic = bytes_of<false, false>(sample.operation, terms_of(sample.shape));
    return {KernelClass::convolution, activations, sample, traffic, update && !stand_in};
}

/// The format whose kernels a llama.cpp model runs, by the bits of a weight: 4.5 in Q4_0, 8.5 in Q8_0, 16 in F16.
NumberFormat format_of_weights(double bits) {
    return bits > 24.0   ? NumberFormat::fp32
           : bits > 12.0 ? NumberFormat::fp16
           : bits > 6.0  ? NumberFormat::int8
                         : NumberFormat::int4;
}

/// A whole pass of llama-bench: every linear layer of the model at once. At depth 0 it does little else.
ConvertedRow llama_row(TableRow& row) {
    const double tokens = row.number("tokens", 1), context = row.number("context", 0);
    const double bytes = row.number("model_bytes", 1), parameters = row.number("parameters", 1);
    KernelSample sample{row.text("model"), {}, {tokens, 1.0, 0.0, 1.0}, row.time()};
    sample.operation.flops.per_token = Flops(2.0 * parameters);
    sample.operation.bytes.fixed = Bytes(bytes);
    sample.whole_pass = true;
    return {KernelClass::gemm, format_of_weights(8.0 * bytes / parameters), sample, Bytes(bytes), context == 0.0};
}

/// Forms of Mamba-2 scans; the simulator has a class of kernels for each.
ConvertedRow mamba2_row(TableRow& row) {
    constexpr std::array scans = {Mamba2Scan::none_written, Mamba2Scan::final_written, Mamba2Scan::every_written,
                                  Mamba2Scan::tree, Mamba2Scan::replay};
    const Mamba2Scan scan = scans[row.choice("form", {"none", "final", "every", "tree", "replay"})];
    const NumberFormat activations = row.format("dtype"), state = row.format("state_dtype");
    const auto count = [&](const char* name) { return static_cast<Count>(row.number(name, 1)); };
    const Mamba2Shape shape{row.number("batch", 1), row.number("tokens", 1), count("heads"), count("head_dim"),
                            count("state_size")};
    const KernelSample sample = mamba2_sample(scan, shape, activations, state, row.time());
    const double elements = static_cast<double>(shape.heads * shape.head_dim * shape.state_size);
    return {sample.operation.kernel.value_or(KernelClass::scan), state, sample,
            Storage{state}.per_element() * (elements * shape.batch)};
}

ConvertedRow element_wise_row(TableRow& row) {
    constexpr std::array forms = {ElementWiseForm::norm, ElementWiseForm::gated_norm, ElementWiseForm::activation,
                                  ElementWiseForm::rotary};
    const ElementWiseForm form = forms[row.choice("operation", {"rms_norm", "gated_rms_norm", "gated_activation", "rotary"})];
    const NumberFormat activations = row.format("dtype");
    const double rows = row.number("rows", 1), width = row.number("width", 1);
    const KernelSample sample = element_wise_sample(form, rows, width, activations, row.time());
    return {sample.operation.kernel.value_or(KernelClass::element_wise), activations, sample, bytes_at(sample)};
}

/// Rejection sampling was measured with every drafted token standing, which is what the simulator prices.
ConvertedRow sampling_row(TableRow& row) {
    constexpr std::array methods = {Sampling::greedy, Sampling::rejection, Sampling::top};
    const Sampling sampling = methods[row.choice("method", {"greedy", "rejection", "top_choices"})];
    const double batch = row.number("batch", 1), tokens = row.number("tokens", 1);
    const KernelSample sample = sampling_sample(sampling, batch, tokens, row.number("vocabulary", 2), row.time());
    return {sample.operation.kernel.value_or(KernelClass::sampling), NumberFormat::fp32, sample, bytes_at(sample)};
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
    const std::optional<double> value = parse_number(written);
    if (good_ && !(value && *value >= least)) {
        problem(fmt::format("{} must be a number of at least {:g}, not \"{}\"", name, least, written));
    }
    return std::max(value.value_or(least), least);
}

NumberFormat TableRow::format(std::string_view name) {
    const std::string written = text(name);
    const std::optional<NumberFormat> found = value_named<NumberFormat>(written);
    if (good_ && !found) {
        problem(fmt::format("{} \"{}\" is not a number format", name, written));
    }
    return found.value_or(NumberFormat::bf16);
}

std::size_t TableRow::choice(std::string_view name, const std::vector<std::string>& words) {
    const std::string written = text(name);
    const auto found = std::find(words.begin(), words.end(), written);
    if (good_ && found == words.end()) {
        problem(fmt::format("{} must be {}, not \"{}\"", name, listed(words, "or"), written));
    }
    return found == words.end() ? 0 : static_cast<std::size_t>(found - words.begin());
}

void TableRow::problem(const std::string& sentence) {
    good_ = false;
    problems_.push_back(fmt::format("{}: {}", row_.place, sentence));
}

const std::vector<TableKind>& table_kinds() {
    static const std::vector<TableKind> kinds = {
        {"mamba2_scan", "form", mamba2_row, "states above the last-level cache, or read from main memory otherwise"},
        {"element_wise", "operation", element_wise_row, "rows from main memory"},
        {"sampling", "method", sampling_row, "logits from main memory"},
        {"probe", "probe", nullptr, "bandwidth"},
        {"launch", "launches", nullptr, "empty launches"},
        {"decoder", "drafter", nullptr, "rounds of a decoder, held out"},
        {"layer", "family", nullptr, "whole layers, held out"},
        {"llama_bench", "model_bytes", llama_row, "whole passes of models above the last-level cache, without context"},
        {"gemm", "k", linear_row, "weights above twice the last-level cache, at most 1024 rows"},
        {"attention_decode", "kv_dtype", attention_row, "keys and values above the last-level cache"},
        {"recurrent_verify", "state_dtype", recurrent_row,
         "kernels of the recurrence alone, live states above the last-level cache"},
        {"conv1d", "d_conv", convolution_row, "updates whose traffic is above the last-level cache"},
    };
    return kinds;
}

const TableKind* kind_of(const MeasuredRow& row) {
    const auto benchmark = row.values.find("benchmark");
    for (const TableKind& kind : table_kinds()) {
        if (benchmark != row.values.end() ? benchmark->second == kind.name
                                          : row.values.find(kind.telling_column) != row.values.end()) {
            return &kind;
        }
    }
    return nullptr;
}

}  // namespace treeline
