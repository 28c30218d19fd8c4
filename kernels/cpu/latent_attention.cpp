// Latent attention: all heads of a token share the cached rows, so scores and sums are products of a block of heads with a
// block of rows, taken block by block with running maxima.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/rows.h"

namespace treeline::kernels::cpu {
namespace {

constexpr int block_heads = 16;
constexpr int block_rows = 64;  // of 576 floats: 147 KB, within a second-level cache

/// A block of heads of one token after another, by one thread.
class HeadBlock {
public:
    explicit HeadBlock(const LatentAttention& attention)
        : attention_(attention),
          width_(attention.latent + attention.turned),
          query_(static_cast<std::size_t>(block_heads) * std::size_t(width_)),
          rows_(static_cast<std::size_t>(block_rows) * std::size_t(width_)),
          scores_(static_cast<std::size_t>(block_heads) * block_rows),
          sums_(static_cast<std::size_t>(block_heads) * std::size_t(attention.latent)) {}

    void run(int sequence, int token, int first_head) {
        const std::int64_t row = std::int64_t{sequence} * attention_.tokens + token;
        heads_ = std::min(block_heads, attention_.heads - first_head);
        load(attention_.query, row, std::int64_t{first_head} * width_, std::int64_t{heads_} * width_, query_.data());
        std::fill_n(sums_.data(), std::int64_t{heads_} * attention_.latent, 0.0F);
        std::fill_n(largest_, heads_, -std::numeric_limits<float>::infinity());
        std::fill_n(total_, heads_, 0.0F);
        const int context = attention_.context[sequence], own = attention_.first_token + token;
        for (int first = 0; first <= context + own; first += block_rows) {
            add_rows(sequence, context, own, first, std::min(block_rows, context + own + 1 - first));
        }
        for (int head = 0; head < heads_; ++head) {
            float* sum = sums_ + std::int64_t{head} * attention_.latent;
            scale(sum, attention_.latent, 1.0F / total_[head]);
            store(attention_.output, row, std::int64_t{first_head + head} * attention_.latent, attention_.latent, sum);
        }
    }

private:
    /// Cached rows first … first + count - 1.
    void add_rows(int sequence, int context, int own, int first, int count) {
        Matrix rows{};
        const std::int64_t cached = std::int64_t{sequence} * attention_.capacity + first;
        if (attention_.cache.type == ElementType::fp32) {
            rows = {static_cast<const float*>(attention_.cache.data) + cached * attention_.cache.stride,
                    attention_.cache.stride};
        } else {
            for (int i = 0; i < count; ++i) {
                load(attention_.cache, cached + i, 0, width_, rows_ + std::int64_t{i} * width_);
            }
            rows = {rows_.data(), width_};
        }
        dot_products({query_.data(), width_}, heads_, rows, count, width_, scores_.data(), block_rows);
        for (int head = 0; head < heads_; ++head) {
            float* scores = scores_ + std::int64_t{head} * block_rows;
            scale(scores, count, attention_.scale);
            for (int i = std::max(0, context - first); attention_.tree && i < count; ++i) {
                if (!sees(own, first + i - context)) {
                    scores[i] = -std::numeric_limits<float>::infinity();
                }
            }
            const float now = std::max(largest_[head], largest(scores, count));
            if (now == -std::numeric_limits<float>::infinity()) {
                std::fill_n(scores, count, 0.0F);
                continue;
            }
            const float kept = std::exp(largest_[head] - now);
            scale(sums_ + std::int64_t{head} * attention_.latent, attention_.latent, kept);
            exponentials(scores, count, now);
            total_[head] = total_[head] * kept + sum(scores, count);
            largest_[head] = now;
        }
        add_weighted({scores_.data(), block_rows}, heads_, rows, count, attention_.latent, sums_.data(), attention_.latent);
    }

    [[nodiscard]] bool sees(int token, int other) const {
        const TreeView& tree = attention_.tree;
        return (tree.ancestors[std::int64_t{token} * tree.words_per_row + other / 64] >> (other % 64) & 1U) != 0;
    }

    const LatentAttention& attention_;
    int width_, heads_ = 0;
    Buffer query_, rows_, scores_, sums_;
    float largest_[block_heads] = {}, total_[block_heads] = {};
};

}  // namespace

void latent_attention(const LatentAttention& attention, Queue /*queue*/) {
    check(attention);
#pragma omp parallel
    {
        HeadBlock block(attention);
#pragma omp for collapse(3) schedule(static)
        for (int sequence = 0; sequence < attention.sequences; ++sequence) {
            for (int token = 0; token < attention.tokens; ++token) {
                for (int head = 0; head < attention.heads; head += block_heads) {
                    block.run(sequence, token, head);
                }
            }
        }
    }
}

/// Each head as any other linear layer.
void head_linear(const HeadLinear& linear, Queue queue) {
    check(linear);
    for (int head = 0; head < linear.heads; ++head) {
        const auto bytes = std::int64_t(bytes_of(linear.x.type));
        ConstRows x = linear.x, weight = linear.weight;
        Rows y = linear.y;
        x.data = static_cast<const char*>(x.data) + std::int64_t{head} * linear.input_stride * bytes;
        weight.data = static_cast<const char*>(weight.data) + std::int64_t{head} * linear.outputs * weight.stride * bytes;
        y.data = static_cast<char*>(y.data) + std::int64_t{head} * linear.output_stride * bytes;
        cpu::linear({linear.rows, linear.inputs, linear.outputs, x, weight, y}, queue);
    }
}

void repeat_heads(const RepeatHeads& repeat, Queue /*queue*/) {
    check(repeat);
    const std::size_t bytes = bytes_of(repeat.from.type), head_bytes = std::size_t(repeat.width) * bytes;
#pragma omp parallel for schedule(static)
    for (int row = 0; row < repeat.rows; ++row) {
        const char* from = static_cast<const char*>(repeat.from.data) + std::size_t(row * repeat.from.stride) * bytes;
        char* to = static_cast<char*>(repeat.to.data) + std::size_t(row * repeat.to.stride) * bytes;
        for (int head = 0; head < repeat.heads; ++head) {
            std::memcpy(to + std::size_t(head) * head_bytes, from + std::size_t(head / repeat.copies) * head_bytes, head_bytes);
        }
    }
}

}  // namespace treeline::kernels::cpu
