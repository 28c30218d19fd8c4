#include "kernels/cpu/head_tokens.h"

#include <cmath>

#include "kernels/cpu/vector_tokens.h"

namespace treeline::kernels::cpu {
namespace {

std::size_t elements(int rows, int width) { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(width); }

float softplus(float value) { return value > 20.0F ? value : std::log1p(std::exp(value)); }

}  // namespace

HeadTokens::HeadTokens(const ScanShape& shape, const ScanTokens& tokens, const int* row_of, bool with_output, bool at_once)
    : shape_(shape),
      tokens_(tokens),
      row_of_(row_of),
      with_output_(with_output),
      at_once_(with_output && at_once),
      b_(elements(shape.tokens, shape.state_size)),
      c_(with_output ? elements(shape.tokens, shape.state_size) : 0),
      c_by_token_(at_once_ ? elements(padded_tokens(shape.tokens), shape.state_size) : 0),
      x_(elements(shape.tokens, shape.head_dim)),
      input_(elements(shape.tokens, shape.head_dim)),
      decay_(elements(shape.tokens, 1)),
      gate_(elements(1, shape.head_dim)) {}

bool HeadTokens::move_to(int sequence, int head) {
    if (sequence != sequence_) {
        rows_.clear();
        for (int token = 0; token < shape_.tokens; ++token) {
            const std::int64_t place = std::int64_t{sequence} * shape_.tokens + token;
            const std::int64_t row = row_of_ != nullptr ? row_of_[place] : place;
            if (row < 0) {
                break;
            }
            rows_.push_back(row);
        }
    }
    const bool other_group = sequence != sequence_ || group_of(head) != group_;
    if (other_group) {
        load_group(group_of(head));
    }
    load_head(head);
    sequence_ = sequence;
    return other_group;
}

void HeadTokens::load_group(int group) {
    group_ = group;
    const std::int64_t column = std::int64_t{group} * shape_.state_size;
    for (int token = 0; token < count(); ++token) {
        const std::int64_t at = std::int64_t{token} * shape_.state_size;
        load(tokens_.b, rows_[static_cast<std::size_t>(token)], column, shape_.state_size, b_ + at);
        if (with_output_) {
            load(tokens_.c, rows_[static_cast<std::size_t>(token)], column, shape_.state_size, c_ + at);
        }
    }
    if (at_once_) {
        transpose_tokens(c_.data(), count(), shape_.state_size, c_by_token_.data());
    }
}

void HeadTokens::load_head(int head) {
    head_ = head;
    const std::int64_t column = std::int64_t{head} * shape_.head_dim;
    for (int token = 0; token < count(); ++token) {
        const std::int64_t row = rows_[static_cast<std::size_t>(token)];
        float raw = 0.0F;
        load(tokens_.dt, row, head, 1, &raw);
        const float dt = softplus(raw + (tokens_.dt_bias != nullptr ? tokens_.dt_bias[head] : 0.0F));
        decay_[static_cast<std::size_t>(token)] = std::exp(tokens_.a[head] * dt);
        const std::int64_t at = std::int64_t{token} * shape_.head_dim;
        load(tokens_.x, row, column, shape_.head_dim, x_ + at);
        for (int p = 0; p < shape_.head_dim; ++p) {
            *(input_ + (at + p)) = dt * *(x_ + (at + p));
        }
    }
}

void HeadTokens::finish(int token, float* sum, Rows y, std::int64_t y_row) const {
    const std::int64_t column = std::int64_t{head_} * shape_.head_dim;
    if (tokens_.d != nullptr) {
        add_scaled(sum, x_ + std::int64_t{token} * shape_.head_dim, shape_.head_dim, tokens_.d[head_]);
    }
    if (tokens_.gate) {
        load(tokens_.gate, rows_[static_cast<std::size_t>(token)], column, shape_.head_dim, gate_.data());
        multiply_by_silu(sum, gate_.data(), shape_.head_dim);
    }
    store(y, y_row, column, shape_.head_dim, sum);
}

}  // namespace treeline::kernels::cpu
