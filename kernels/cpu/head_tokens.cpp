#include "kernels/cpu/head_tokens.h"

#include <algorithm>

namespace treeline::kernels::cpu {
namespace {

std::size_t elements(int rows, int width) { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(width); }

}  // namespace

HeadTokens::HeadTokens(const ScanShape& shape, const ScanTokens& tokens, const int* row_of, Rows y, bool at_once)
    : shape_(shape),
      tokens_(tokens),
      row_of_(row_of),
      y_(y),
      at_once_(y && at_once),
      x_rows_(static_cast<std::size_t>(shape.tokens)),
      b_(elements(shape.tokens, shape.state_size)),
      c_(y ? elements(shape.tokens, shape.state_size) : 0),
      x_(tokens.x.type == ElementType::fp32 ? 0 : elements(shape.tokens, shape.head_dim)),
      dt_(elements(shape.tokens, heads_at_once)),
      decay_(elements(shape.tokens, heads_at_once)),
      gate_(elements(1, shape.head_dim)),
      matrix_(at_once_ ? shape.tokens : 0, shape.state_size) {}

bool HeadTokens::move_to(int sequence, int head) {
    const bool other_sequence = sequence != sequence_;
    if (other_sequence) {
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
    const int group = head / (shape_.heads / shape_.groups);
    const bool other_group = other_sequence || group != group_;
    if (other_group) {
        load_group(group);
    }
    if (other_sequence || head / heads_at_once != head_ / heads_at_once) {
        load_steps(head / heads_at_once * heads_at_once);
    }
    sequence_ = sequence;
    load_head(head);
    look_ahead();
    return other_group;
}

void HeadTokens::load_group(int group) {
    group_ = group;
    const std::int64_t column = std::int64_t{group} * shape_.state_size;
    for (int token = 0; token < count(); ++token) {
        const std::int64_t at = std::int64_t{token} * shape_.state_size;
        load(tokens_.b, rows_[static_cast<std::size_t>(token)], column, shape_.state_size, b_ + at);
        if (has_output()) {
            load(tokens_.c, rows_[static_cast<std::size_t>(token)], column, shape_.state_size, c_ + at);
        }
    }
    if (at_once_) {
        matrix_.set(c_.data(), count());
    }
}

/// dt and decay of several heads, vectorised over all tokens.
void HeadTokens::load_steps(int first_head) {
    const int heads = std::min(heads_at_once, shape_.heads - first_head), values = count() * heads_at_once;
    for (int token = 0; token < count(); ++token) {
        float* dt = dt_ + std::int64_t{token} * heads_at_once;
        std::fill_n(dt, heads_at_once, 0.0F);
        load(tokens_.dt, rows_[static_cast<std::size_t>(token)], first_head, heads, dt);
        for (int i = 0; tokens_.dt_bias != nullptr && i < heads; ++i) {
            dt[i] += tokens_.dt_bias[first_head + i];
        }
    }
    softplus(dt_.data(), values);
    for (int token = 0; token < count(); ++token) {
        const std::int64_t at = std::int64_t{token} * heads_at_once;
        std::fill_n(decay_ + at, heads_at_once, 0.0F);
        for (int i = 0; i < heads; ++i) {
            *(decay_ + (at + i)) = tokens_.a[first_head + i] * *(dt_ + (at + i));
        }
    }
    exponentials(decay_.data(), values, 0.0F);
}

void HeadTokens::load_head(int head) {
    head_ = head;
    const std::int64_t column = std::int64_t{head} * shape_.head_dim;
    for (int token = 0; token < count(); ++token) {
        x_rows_[static_cast<std::size_t>(token)] = view(tokens_.x, rows_[static_cast<std::size_t>(token)], column,
                                                        shape_.head_dim, x_ + std::int64_t{token} * shape_.head_dim);
    }
}

void HeadTokens::look_ahead() {
    rows_ahead_.clear();
    constexpr std::int64_t cached_elements = std::int64_t{2} << 20;  // of states: then tokens are in a cache as well
    if (head_ + 1 == shape_.heads ||
        std::int64_t{shape_.sequences} * shape_.heads * shape_.head_dim * shape_.state_size <= cached_elements) {
        return;
    }
    const auto ask = [&](ConstRows rows, std::int64_t row) {
        const std::int64_t column = std::int64_t{head_ + 1} * shape_.head_dim;
        const auto bytes = static_cast<std::int64_t>(bytes_of(rows.type));
        rows_ahead_.add(static_cast<const char*>(rows.data) + (row * rows.stride + column) * bytes,
                        static_cast<std::size_t>(shape_.head_dim * bytes));
    };
    for (int token = 0; token < count(); ++token) {
        ask(tokens_.x, rows_[static_cast<std::size_t>(token)]);
        if (y_ && tokens_.gate) {
            ask(tokens_.gate, rows_[static_cast<std::size_t>(token)]);
        }
        if (y_) {
            ask(y_, row_of_y(token));
        }
    }
}

float* HeadTokens::place_of_sums(int token, float* sums) const {
    return y_.type == ElementType::fp32
               ? static_cast<float*>(y_.data) + row_of_y(token) * y_.stride + std::int64_t{head_} * shape_.head_dim
               : sums;
}

void HeadTokens::finish(int token, float* sums) const {
    const std::int64_t column = std::int64_t{head_} * shape_.head_dim;
    if (tokens_.gate) {
        load(tokens_.gate, rows_[static_cast<std::size_t>(token)], column, shape_.head_dim, gate_.data());
        multiply_by_silu(sums, gate_.data(), shape_.head_dim);
    }
    if (y_.type != ElementType::fp32) {
        store(y_, row_of_y(token), column, shape_.head_dim, sums);
    }
}

}  // namespace treeline::kernels::cpu
