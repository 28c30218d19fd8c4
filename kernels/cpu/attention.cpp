#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/rows.h"

namespace treeline::kernels::cpu {
namespace {

/// Positions whose scores are in hand at a time.
constexpr int tile = 64;
constexpr float never = -std::numeric_limits<float>::infinity();

/// One KV head of one sequence after another, by one thread: all query rows that share it (the tokens times the query heads of
/// the group) against one tile of positions after another, with the softmax corrected as larger scores appear.
class HeadAttention {
public:
    explicit HeadAttention(const Attention& attention)
        : attention_(attention),
          shape_(attention.shape),
          heads_(shape_.query_heads / shape_.kv_heads),
          rows_(shape_.tokens * heads_),
          query_(std::size_t(rows_) * shape_.head_dim),
          sum_(std::size_t(rows_) * shape_.head_dim),
          weight_(std::size_t(rows_) * tile),
          keys_(std::size_t{tile} * shape_.head_dim),
          values_(std::size_t{tile} * shape_.head_dim),
          largest_(static_cast<std::size_t>(rows_)),
          total_(static_cast<std::size_t>(rows_)) {}

    void run(int sequence, int kv_head) {
        context_ = attention_.context[sequence];
        start(sequence, kv_head);
        const int positions = context_ + attention_.first_token + shape_.tokens;
        for (int first = 0; first < positions; first += tile) {
            const int count = std::min(tile, positions - first);
            if (!hidden_from_all(first, count)) {
                add_tile(sequence, kv_head, first, count);
            }
        }
        finish(sequence, kv_head);
    }

private:
    [[nodiscard]] int level(int token) const { return attention_.tree ? attention_.tree.level[token] : token; }
    /// The first place that a token sees, the sink apart.
    [[nodiscard]] int first_seen(int token) const {
        return attention_.window == 0 ? 0 : std::max(0, context_ + level(token) - attention_.window + 1);
    }
    [[nodiscard]] bool hidden_from_all(int first, int count) const {
        return first >= attention_.sink && first + count <= std::min(context_, first_seen(attention_.first_token));
    }

    void start(int sequence, int kv_head) {
        const float scale_of_scores =
            attention_.scale > 0.0F ? attention_.scale : 1.0F / std::sqrt(static_cast<float>(shape_.head_dim));
        for (int row = 0; row < rows_; ++row) {
            float* query = query_ + std::int64_t{row} * shape_.head_dim;
            load(attention_.query, query_row(sequence, row), query_column(kv_head, row), shape_.head_dim, query);
            scale(query, shape_.head_dim, scale_of_scores);
        }
        std::fill_n(sum_.data(), std::size_t(rows_) * shape_.head_dim, 0.0F);
        std::fill(largest_.begin(), largest_.end(), never);
        std::fill(total_.begin(), total_.end(), 0.0F);
    }

    void add_tile(int sequence, int kv_head, int first, int count) {
        const std::int64_t position = std::int64_t{sequence} * attention_.capacity + first;
        const Matrix keys = tile_of(attention_.keys, position, count, kv_head, keys_);
        dot_products({query_.data(), shape_.head_dim}, rows_, keys, count, shape_.head_dim, weight_.data(), tile);
        hide(first, count);
        for (int row = 0; row < rows_; ++row) {
            turn_into_weights(row, count);
        }
        const Matrix values = tile_of(attention_.values, position, count, kv_head, values_);
        add_weighted({weight_.data(), tile}, rows_, values, count, shape_.head_dim, sum_.data(), shape_.head_dim);
    }

    [[nodiscard]] Matrix tile_of(ConstRows cache, std::int64_t position, int count, int kv_head, const Buffer& buffer) const {
        const std::int64_t column = std::int64_t{kv_head} * shape_.head_dim;
        if (cache.type == ElementType::fp32) {
            return {static_cast<const float*>(cache.data) + position * cache.stride + column, cache.stride};
        }
        for (int i = 0; i < count; ++i) {
            load(cache, position + i, column, shape_.head_dim, buffer + std::int64_t{i} * shape_.head_dim);
        }
        return {buffer.data(), shape_.head_dim};
    }

    /// Scores that a token must not see become minus infinity.
    void hide(int first, int count) {
        for (int row = 0; row < rows_; ++row) {
            const int token = attention_.first_token + row / heads_;
            float* scores = weight_ + std::int64_t{row} * tile;
            const int seen = first_seen(token);
            for (int i = std::max(0, attention_.sink - first); i < std::min({count, seen - first, context_ - first}); ++i) {
                scores[i] = never;
            }
            for (int i = std::max(0, context_ - first); i < count; ++i) {
                const int other = first + i - context_;
                const int place = context_ + level(other);
                const bool visible = is_ancestor(other, token) && (place >= seen || place < attention_.sink);
                scores[i] = visible ? scores[i] : never;
            }
        }
    }

    [[nodiscard]] bool is_ancestor(int other, int token) const {
        const TreeView& tree = attention_.tree;
        return tree ? (tree.ancestors[std::int64_t{token} * tree.words_per_row + other / 64] >> (other % 64) & 1U) != 0
                    : other <= token;
    }

    void turn_into_weights(int row, int count) {
        float* scores = weight_ + std::int64_t{row} * tile;
        float& so_far = largest_[std::size_t(row)];
        const float now = std::max(so_far, largest(scores, count));
        if (now == never) {
            std::fill_n(scores, count, 0.0F);
            return;
        }
        if (now > so_far) {
            const float correction = std::exp(so_far - now);
            scale(sum_ + std::int64_t{row} * shape_.head_dim, shape_.head_dim, correction);
            total_[std::size_t(row)] *= correction;
            so_far = now;
        }
        exponentials(scores, count, now);
        total_[std::size_t(row)] += sum(scores, count);
    }

    void finish(int sequence, int kv_head) {
        for (int row = 0; row < rows_; ++row) {
            float* sum = sum_ + std::int64_t{row} * shape_.head_dim;
            scale(sum, shape_.head_dim, 1.0F / total_[std::size_t(row)]);
            store(attention_.output, query_row(sequence, row), query_column(kv_head, row), shape_.head_dim, sum);
        }
    }

    [[nodiscard]] std::int64_t query_row(int sequence, int row) const {
        return std::int64_t{sequence} * shape_.tokens + row / heads_;
    }
    [[nodiscard]] std::int64_t query_column(int kv_head, int row) const {
        return (std::int64_t{kv_head} * heads_ + row % heads_) * shape_.head_dim;
    }

    const Attention& attention_;
    const AttentionShape& shape_;
    int heads_, rows_, context_ = 0;
    Buffer query_, sum_, weight_, keys_, values_;
    std::vector<float> largest_, total_;
};

}  // namespace

void attention(const Attention& attention, Queue /*queue*/) {
    check(attention);
#pragma omp parallel
    {
        HeadAttention one(attention);
#pragma omp for collapse(2) schedule(static)
        for (int sequence = 0; sequence < attention.shape.sequences; ++sequence) {
            for (int kv_head = 0; kv_head < attention.shape.kv_heads; ++kv_head) {
                one.run(sequence, kv_head);
            }
        }
    }
}

}  // namespace treeline::kernels::cpu
