#include <cmath>
#include <vector>

#include "kernels/reference/element_access.h"
#include "kernels/reference/kernels.h"

namespace treeline::kernels::reference {
namespace {

bool is_ancestor_or_self(const TreeView& tree, int ancestor, int token) {
    while (token > ancestor) {
        token = tree.parent[token];
    }
    return token == ancestor;
}

/// Whether new token `token` sees cache position `position`.
bool sees(const Attention& attention, int context, int token, int position) {
    const auto level = [&](int of) { return attention.tree ? attention.tree.level[of] : of; };
    const int other = position - context;  // a new token's number, where not negative
    if (other >= 0 && (attention.tree ? !is_ancestor_or_self(attention.tree, other, token) : other > token)) {
        return false;
    }
    const int place = other >= 0 ? context + level(other) : position;
    return attention.window == 0 || place < attention.sink || context + level(token) - place < attention.window;
}

}  // namespace

void attention(const Attention& attention, Queue /*queue*/) {
    check(attention);
    const AttentionShape& shape = attention.shape;
    const double scale = attention.scale > 0.0F ? attention.scale : 1.0 / std::sqrt(double(shape.head_dim));
    for (std::int64_t sequence = 0; sequence < shape.sequences; ++sequence) {
        const int context = attention.context[sequence];
        for (int token = attention.first_token; token < attention.first_token + shape.tokens; ++token) {
            for (int head = 0; head < shape.query_heads; ++head) {
                const std::int64_t row = sequence * shape.tokens + token - attention.first_token;
                const std::int64_t column = std::int64_t{head} * shape.head_dim;
                const std::int64_t kv_column = std::int64_t{head / (shape.query_heads / shape.kv_heads)} * shape.head_dim;
                std::vector<double> scores;
                std::vector<int> positions;
                for (int position = 0; position < context + attention.first_token + shape.tokens; ++position) {
                    if (!sees(attention, context, token, position)) {
                        continue;
                    }
                    double score = 0.0;
                    for (int d = 0; d < shape.head_dim; ++d) {
                        score += load(attention.query, row, column + d) *
                                 load(attention.keys, sequence * attention.capacity + position, kv_column + d);
                    }
                    scores.push_back(scale * score);
                    positions.push_back(position);
                }
                double largest = scores.front();
                for (const double score : scores) {
                    largest = std::max(largest, score);
                }
                std::vector<double> sum(std::size_t(shape.head_dim), 0.0);
                double total = 0.0;
                for (std::size_t i = 0; i < scores.size(); ++i) {
                    const double weight = std::exp(scores[i] - largest);
                    total += weight;
                    for (int d = 0; d < shape.head_dim; ++d) {
                        sum[d] += weight * load(attention.values, sequence * attention.capacity + positions[i], kv_column + d);
                    }
                }
                for (int d = 0; d < shape.head_dim; ++d) {
                    store(attention.output, row, column + d, sum[d] / total);
                }
            }
        }
    }
}

}  // namespace treeline::kernels::reference
