#include "kernels/check.h"

#include "kernels/attention.h"
#include "kernels/convolution.h"
#include "kernels/gather.h"
#include "kernels/linear.h"
#include "kernels/pointwise.h"
#include "kernels/probes.h"
#include "kernels/rotary.h"
#include "kernels/state_scan.h"
#include "kernels/verify.h"

namespace treeline::kernels {
namespace {

void check_scan_tokens(const ScanShape& shape, const ScanTokens& tokens, Rows y, const char* kernel) {
    require(shape.sequences > 0 && shape.tokens > 0 && shape.heads > 0, kernel, "a dimension is not positive");
    require(shape.head_dim > 0 && shape.state_size > 0 && shape.groups > 0, kernel, "a dimension is not positive");
    require(shape.heads % shape.groups == 0, kernel, "the heads are not a multiple of the groups");
    require(shape.head_dim % 16 == 0 && shape.head_dim <= 128, kernel, "head_dim is not a multiple of 16 up to 128");
    require(shape.state_size % 16 == 0 && shape.state_size <= 256, kernel, "state_size is not a multiple of 16 up to 256");
    require(tokens.a != nullptr, kernel, "a is missing");
    const std::int64_t inner = std::int64_t{shape.heads} * shape.head_dim;
    const std::int64_t projection = std::int64_t{shape.groups} * shape.state_size;
    require_rows(tokens.x, inner, kernel, "x");
    require_rows(tokens.b, projection, kernel, "b");
    require_rows(tokens.dt, shape.heads, kernel, "dt");
    require_same_type({tokens.x, tokens.b, tokens.dt, tokens.c, tokens.gate, y}, kernel);
    if (y) {
        require_rows(y, inner, kernel, "y");
        require_rows(tokens.c, projection, kernel, "c");
        require(!tokens.gate || tokens.gate.stride >= inner, kernel, "rows of the gate overlap");
    }
}

void check_accepted(const Accepted& accepted, const char* kernel) {
    require(accepted.count != nullptr && accepted.path != nullptr && accepted.next_id != nullptr, kernel,
            "a place for the result is missing");
}

void check_probe(const void* memory, std::size_t bytes, const char* kernel) {
    require(memory != nullptr && bytes > 0 && bytes % 16 == 0, kernel, "needs memory of a multiple of 16 bytes");
}

}  // namespace

void check(const Scan& scan) {
    const char* kernel = "scan";
    check_scan_tokens(scan.shape, scan.tokens, scan.y, kernel);
    require(scan.initial.data != nullptr && scan.initial.type != ElementType::fp64, kernel, "it needs fp32 or bf16 states");
    require(scan.write == StateWrite::none || scan.written.data != nullptr, kernel, "there is no place for the states written");
    require(scan.y || scan.write != StateWrite::none, kernel, "it would write nothing");
    const bool same_type = scan.written.type == scan.initial.type || scan.written.type == ElementType::fp64;
    require(scan.write == StateWrite::none || same_type, kernel, "the states read and written differ in type");
}

void check(const TreeScan& scan) {
    const char* kernel = "tree scan";
    require(static_cast<bool>(scan.y), kernel, "y is missing");
    check_scan_tokens(scan.shape, scan.tokens, scan.y, kernel);
    require(scan.initial.data != nullptr && scan.initial.type != ElementType::fp64, kernel, "it needs fp32 or bf16 states");
    require(static_cast<bool>(scan.tree), kernel, "the tree is missing");
    require(scan.tree.tokens == scan.shape.tokens, kernel, "the shape and the tree differ in tokens");
}

void check(const ChunkScan& scan) {
    const char* kernel = "chunk scan";
    require(static_cast<bool>(scan.y), kernel, "y is missing");
    require(scan.written.data != nullptr && scan.scratch != nullptr, kernel, "there is no place for the states, or no scratch");
    check(token_by_token(scan));
    const int chunk = scan.chunk.tokens;
    require(static_cast<bool>(scan.chunk) && chunk > 0 && chunk % 64 == 0 && chunk <= 256, kernel,
            "the chunk is not a chain of 64, 128, 192 or 256 tokens");
    require(scan.shape.tokens % chunk == 0, kernel, "the tokens are not a multiple of the chunk's");
}

void check(const ConvolutionUpdate& update) {
    const char* kernel = "convolution update";
    const ConvolutionShape& shape = update.shape;
    require(shape.sequences > 0 && shape.tokens > 0 && shape.channels > 0, kernel, "a dimension is not positive");
    require(shape.width >= 2 && shape.width <= 8, kernel, "the width is not 2 to 8");
    require_rows(update.input, shape.channels, kernel, "the input");
    require_rows(update.output, shape.channels, kernel, "the output");
    require_same_type({update.input, update.output}, kernel);
    require(update.weight != nullptr && update.window != nullptr, kernel, "the weight or the window is missing");
    require(!update.tree || update.tree.tokens == shape.tokens, kernel, "the shape and the tree differ in tokens");
    require(!update.tree || update.window_after == nullptr, kernel, "a tree has no single window after its last token");
}

void check(const ConvolutionAdvance& advance) {
    const char* kernel = "convolution advance";
    const ConvolutionShape& shape = advance.shape;
    require(shape.sequences > 0 && shape.tokens > 0 && shape.channels > 0, kernel, "a dimension is not positive");
    require(shape.width >= 2 && shape.width <= 8, kernel, "the width is not 2 to 8");
    require_rows(advance.input, shape.channels, kernel, "the input");
    require(advance.row_of != nullptr && advance.window != nullptr, kernel, "the accepted rows or the window are missing");
}

void check(const Attention& attention) {
    const char* kernel = "attention";
    const AttentionShape& shape = attention.shape;
    require(shape.sequences > 0 && shape.tokens > 0 && shape.query_heads > 0, kernel, "a dimension is not positive");
    require(shape.kv_heads > 0 && shape.query_heads % shape.kv_heads == 0, kernel,
            "the query heads are not a multiple of the KV heads");
    require(shape.head_dim > 0 && shape.head_dim % 8 == 0 && shape.head_dim <= 256, kernel,
            "head_dim is not a multiple of 8 up to 256");
    require_rows(attention.query, std::int64_t{shape.query_heads} * shape.head_dim, kernel, "the query");
    require_rows(attention.output, std::int64_t{shape.query_heads} * shape.head_dim, kernel, "the output");
    require_rows(attention.keys, std::int64_t{shape.kv_heads} * shape.head_dim, kernel, "the keys");
    require_rows(attention.values, std::int64_t{shape.kv_heads} * shape.head_dim, kernel, "the values");
    require(attention.keys.type == attention.values.type && attention.keys.type != ElementType::fp64, kernel,
            "keys and values are not of one type, fp32 or bf16");
    require_same_type({attention.query, attention.keys, attention.output}, kernel);
    require(attention.context != nullptr && attention.capacity >= attention.first_token + shape.tokens, kernel,
            "the context is missing or larger than the cache");
    require(attention.first_token >= 0 && (attention.first_token == 0 || attention.tree), kernel,
            "a first token that is no token of a tree");
    require(!attention.tree || (attention.first_token == 0 ? attention.tree.tokens == shape.tokens
                                                           : attention.tree.tokens >= attention.first_token + shape.tokens),
            kernel, "the shape and the tree differ in tokens");
    require(attention.window >= 0 && attention.sink >= 0, kernel, "the window or the sink is negative");
    require(attention.splits == 1 || (attention.splits > 1 && attention.scratch != nullptr), kernel,
            "several splits need scratch, and none is no number of them");
}

void check(const AddBias& sum) {
    const char* kernel = "bias";
    require(sum.rows > 0 && sum.width > 0, kernel, "a dimension is not positive");
    require_rows(sum.x, sum.width, kernel, "x");
    require(sum.bias != nullptr, kernel, "the bias is missing");
}

void check(const RmsNorm& norm) {
    const char* kernel = "RMSNorm";
    require(norm.rows > 0 && norm.width > 0, kernel, "a dimension is not positive");
    require_rows(norm.x, norm.width, kernel, "x");
    require_rows(norm.output, norm.width, kernel, "the output");
    require_same_type({norm.x, norm.residual, norm.output}, kernel);
    require(norm.weight != nullptr, kernel, "the weight is missing");
}

void check(const GatedRmsNorm& norm) {
    const char* kernel = "gated RMSNorm";
    require(norm.rows > 0 && norm.width > 0 && norm.groups > 0, kernel, "a dimension is not positive");
    require(norm.width % norm.groups == 0, kernel, "the width is not a multiple of the groups");
    require_rows(norm.x, norm.width, kernel, "x");
    require(!norm.gate || norm.gate.stride >= norm.width, kernel, "rows of the gate overlap");
    require_rows(norm.output, norm.width, kernel, "the output");
    require_same_type({norm.x, norm.gate, norm.output}, kernel);
    require(norm.weight != nullptr, kernel, "the weight is missing");
}

void check(const GatedActivation& activation) {
    const char* kernel = "gated activation";
    require(activation.rows > 0 && activation.width > 0, kernel, "a dimension is not positive");
    require_rows(activation.gate, activation.width, kernel, "the gate");
    require_rows(activation.up, activation.width, kernel, "up");
    require_rows(activation.output, activation.width, kernel, "the output");
    require_same_type({activation.gate, activation.up, activation.output}, kernel);
}

void check(const Rotary& rotary) {
    const char* kernel = "rotary embedding";
    require(rotary.rows > 0 && rotary.heads > 0 && rotary.head_dim > 0, kernel, "a dimension is not positive");
    require(rotary.head_dim % 2 == 0, kernel, "head_dim is odd");
    require_rows(rotary.x, std::int64_t{rotary.heads} * rotary.head_dim, kernel, "x");
    require(rotary.position != nullptr && rotary.table != nullptr, kernel, "the positions or the table are missing");
}

void check(const TopChoices& choices) {
    const char* kernel = "top choices";
    require(choices.rows > 0 && choices.vocabulary > 0 && choices.choices > 0, kernel, "a dimension is not positive");
    require(choices.choices <= 64 && choices.choices <= choices.vocabulary, kernel,
            "more than 64 choices, or more than the vocabulary has");
    require_rows(choices.logits, choices.vocabulary, kernel, "the logits");
    require(choices.ids != nullptr, kernel, "the place for the ids is missing");
}

void check(const Linear& linear) {
    const char* kernel = "linear layer";
    require(linear.rows > 0 && linear.inputs > 0 && linear.outputs > 0, kernel, "a dimension is not positive");
    require_rows(linear.x, linear.inputs, kernel, "x");
    require_rows(linear.weight, linear.inputs, kernel, "the weight");
    require_rows(linear.y, linear.outputs, kernel, "y");
    require(linear.x.type == linear.weight.type, kernel, "x and the weight differ in type");
    const bool is_narrow = bytes_of(linear.x.type) == 1;
    require(!is_narrow || (linear.inputs % 16 == 0 && linear.outputs % 16 == 0), kernel,
            "in 8 bits inputs and outputs are multiples of 16");
    const bool sums_integers = linear.x.type == ElementType::int8;
    require(linear.y.type == ElementType::fp64 || sums_integers == (linear.y.type == ElementType::int32), kernel,
            "int8 inputs have int32 outputs, and nothing else has");
    require(linear.y.type != ElementType::bf16 || linear.x.type != ElementType::fp32, kernel, "fp32 inputs have fp32 outputs");
    require(bytes_of(linear.y.type) > 1, kernel, "outputs are no 8-bit numbers");
}

void check(const GreedyVerification& verification) {
    const char* kernel = "greedy verification";
    require(verification.sequences > 0 && verification.vocabulary > 0, kernel, "a dimension is not positive");
    require(verification.tree && verification.draft_ids != nullptr && verification.argmax != nullptr, kernel,
            "the tree, its ids or the place for the argmax are missing");
    require_rows(verification.logits, verification.vocabulary, kernel, "the logits");
    check_accepted(verification.accepted, kernel);
}

void check(const RejectionVerification& verification) {
    const char* kernel = "rejection verification";
    require(verification.sequences > 0 && verification.vocabulary > 0, kernel, "a dimension is not positive");
    require(verification.tree && verification.draft_ids != nullptr, kernel, "the tree or its ids are missing");
    require(verification.uniform != nullptr && verification.row_statistics != nullptr, kernel,
            "the random numbers or the scratch are missing");
    require_rows(verification.target_logits, verification.vocabulary, kernel, "the target's logits");
    require_rows(verification.draft_logits, verification.vocabulary, kernel, "the draft's logits");
    require(verification.target_logits.type == ElementType::fp32 && verification.draft_logits.type == ElementType::fp32, kernel,
            "the logits are not fp32");
    require(verification.temperature > 0.0F, kernel,
            "the temperature is not positive (greedy verification is a kernel of its own)");
    check_accepted(verification.accepted, kernel);
}

void check(const GatherRows& gather) {
    const char* kernel = "gather rows";
    require(gather.rows > 0 && gather.width > 0, kernel, "a dimension is not positive");
    require_rows(gather.from, gather.width, kernel, "from");
    require_rows(gather.to, gather.width, kernel, "to");
    require(gather.from.type == gather.to.type && gather.from.type != ElementType::fp64, kernel, "the rows differ in type");
    const std::size_t bytes = bytes_of(gather.from.type);
    require(gather.width * bytes % 4 == 0 && gather.from.stride * bytes % 4 == 0 && gather.to.stride * bytes % 4 == 0, kernel,
            "rows are not whole words of 4 bytes");
}

void check(const ReadProbe& probe) {
    check_probe(probe.from, probe.bytes, "read probe");
    require(probe.sum != nullptr, "read probe", "there is no place for the sum");
}

void check(const WriteProbe& probe) { check_probe(probe.to, probe.bytes, "write probe"); }

void check(const CopyProbe& probe) {
    check_probe(probe.from, probe.bytes, "copy probe");
    check_probe(probe.to, probe.bytes, "copy probe");
}

}  // namespace treeline::kernels
