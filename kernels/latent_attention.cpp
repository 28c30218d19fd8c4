#include "kernels/latent_attention.h"

#include "kernels/check.h"

namespace treeline::kernels {

void check(const LatentAttention& attention) {
    const char* kernel = "latent attention";
    require(attention.sequences > 0 && attention.tokens > 0 && attention.heads > 0, kernel, "a dimension is not positive");
    require(attention.latent > 0 && attention.latent % 4 == 0 && attention.latent <= 1024 && attention.turned >= 0 &&
                attention.turned % 4 == 0,
            kernel, "the latent is not a multiple of 4 up to 1024, or the turned part not one of 4");
    const std::int64_t row = attention.latent + attention.turned;
    require_rows(attention.query, attention.heads * row, kernel, "the query");
    require_rows(attention.cache, row, kernel, "the cache");
    require_rows(attention.output, std::int64_t{attention.heads} * attention.latent, kernel, "the output");
    require_same_type({attention.query, attention.cache, attention.output}, kernel);
    require(attention.context != nullptr && attention.capacity > 0, kernel, "the context or the capacity is missing");
    require(attention.first_token >= 0 && (attention.first_token == 0 || attention.tree), kernel,
            "a first token that is no token of a tree");
    require(!attention.tree || attention.tree.tokens >= attention.first_token + attention.tokens, kernel,
            "the tree has fewer tokens than the pass");
}

void check(const HeadLinear& linear) {
    const char* kernel = "linear layer of heads";
    require(linear.rows > 0 && linear.heads > 0 && linear.inputs > 0 && linear.outputs > 0, kernel,
            "a dimension is not positive");
    require(linear.input_stride >= 0 && linear.output_stride >= linear.outputs, kernel, "heads overlap");
    require_rows(linear.x, std::int64_t{linear.heads - 1} * linear.input_stride + linear.inputs, kernel, "x");
    require_rows(linear.weight, linear.inputs, kernel, "the weight");
    require_rows(linear.y, std::int64_t{linear.heads - 1} * linear.output_stride + linear.outputs, kernel, "y");
    require_same_type({linear.x, linear.weight, linear.y}, kernel);
}

void check(const RepeatHeads& repeat) {
    const char* kernel = "repeating heads";
    require(repeat.rows > 0 && repeat.heads > 0 && repeat.copies > 0 && repeat.width > 0, kernel,
            "a dimension is not positive");
    require(repeat.heads % repeat.copies == 0, kernel, "the heads are not a multiple of the copies");
    require_rows(repeat.from, std::int64_t{repeat.heads / repeat.copies} * repeat.width, kernel, "what is repeated");
    require_rows(repeat.to, std::int64_t{repeat.heads} * repeat.width, kernel, "the result");
    require(repeat.to.type == repeat.from.type || repeat.to.type == ElementType::fp64, kernel,
            "the element types of its rows differ");
}

}  // namespace treeline::kernels
