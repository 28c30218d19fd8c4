#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/reference/element_access.h"
#include "kernels/reference/kernels.h"

namespace treeline::kernels::reference {
namespace {

/// Places in the cache that a new token sees.
std::vector<int> visible(const LatentAttention& attention, int context, int token) {
    std::vector<int> places;
    for (int place = 0; place < context; ++place) {
        places.push_back(place);
    }
    for (int other = 0; other <= token; ++other) {
        const TreeView& tree = attention.tree;
        if (!tree || (tree.ancestors[std::int64_t{token} * tree.words_per_row + other / 64] >> (other % 64) & 1U) != 0) {
            places.push_back(context + other);
        }
    }
    return places;
}

}  // namespace

void latent_attention(const LatentAttention& attention, Queue /*queue*/) {
    check(attention);
    const int row_width = attention.latent + attention.turned;
    for (int sequence = 0; sequence < attention.sequences; ++sequence) {
        for (int token = 0; token < attention.tokens; ++token) {
            const std::int64_t row = std::int64_t{sequence} * attention.tokens + token;
            const std::vector<int> places = visible(attention, attention.context[sequence], attention.first_token + token);
            for (int head = 0; head < attention.heads; ++head) {
                std::vector<double> weights;
                for (const int place : places) {
                    const std::int64_t cached = std::int64_t{sequence} * attention.capacity + place;
                    double score = 0.0;
                    for (int i = 0; i < row_width; ++i) {
                        score +=
                            load(attention.query, row, std::int64_t{head} * row_width + i) * load(attention.cache, cached, i);
                    }
                    weights.push_back(score * attention.scale);
                }
                const double largest = *std::max_element(weights.begin(), weights.end());
                double total = 0.0;
                for (double& weight : weights) {
                    weight = std::exp(weight - largest);
                    total += weight;
                }
                for (int i = 0; i < attention.latent; ++i) {
                    double sum = 0.0;
                    for (std::size_t k = 0; k < places.size(); ++k) {
                        sum += weights[k] * load(attention.cache, std::int64_t{sequence} * attention.capacity + places[k], i);
                    }
                    store(attention.output, row, std::int64_t{head} * attention.latent + i, sum / total);
                }
            }
        }
    }
}

void head_linear(const HeadLinear& linear, Queue /*queue*/) {
    check(linear);
    for (int row = 0; row < linear.rows; ++row) {
        for (int head = 0; head < linear.heads; ++head) {
            for (int output = 0; output < linear.outputs; ++output) {
                double sum = 0.0;
                for (int input = 0; input < linear.inputs; ++input) {
                    sum += load(linear.x, row, std::int64_t{head} * linear.input_stride + input) *
                           load(linear.weight, std::int64_t{head} * linear.outputs + output, input);
                }
                store(linear.y, row, std::int64_t{head} * linear.output_stride + output, sum);
            }
        }
    }
}

void repeat_heads(const RepeatHeads& repeat, Queue /*queue*/) {
    check(repeat);
    for (int row = 0; row < repeat.rows; ++row) {
        for (int head = 0; head < repeat.heads; ++head) {
            for (int i = 0; i < repeat.width; ++i) {
                store(repeat.to, row, std::int64_t{head} * repeat.width + i,
                      load(repeat.from, row, std::int64_t{head / repeat.copies} * repeat.width + i));
            }
        }
    }
}

}  // namespace treeline::kernels::reference
