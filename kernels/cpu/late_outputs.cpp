#include "kernels/cpu/late_outputs.h"

#include <algorithm>

namespace treeline::kernels::cpu {
namespace {

/// Products that wait stay in the second cache.
constexpr std::size_t floats_waiting = 16384;
constexpr std::size_t heads_waiting = 16;

std::size_t elements_of(const ScanShape& shape) {
    return static_cast<std::size_t>(shape.tokens) * static_cast<std::size_t>(shape.head_dim);
}

}  // namespace

LateOutputs::LateOutputs(const ScanShape& shape, HeadTokens& tokens, PathOutputs& outputs)
    : shape_(shape),
      tokens_(tokens),
      outputs_(outputs),
      most_(std::clamp<std::size_t>(floats_waiting / std::max<std::size_t>(elements_of(shape), 1), 1, heads_waiting)),
      products_(tokens.has_output() ? most_ * elements_of(shape) : 0),
      rows_of_y_(static_cast<std::size_t>(shape.tokens)) {}

void LateOutputs::make_room_for(int sequence, int head) {
    if (heads_.size() == most_ || !tokens_.has_at_hand(sequence, head)) {
        complete();
    }
}

float* LateOutputs::products() const { return products_ + static_cast<std::int64_t>(heads_.size() * elements_of(shape_)); }

void LateOutputs::add(int sequence, int head) {
    sequence_ = sequence;
    heads_.push_back(head);
}

void LateOutputs::complete() {
    for (std::size_t i = 0; i < heads_.size(); ++i) {
        tokens_.move_to(sequence_, heads_[i]);
        outputs_.move_to(tokens_, shape_, false);
        float* products = products_ + static_cast<std::int64_t>(i * elements_of(shape_));
        for (int token = 0; token < tokens_.count(); ++token) {
            rows_of_y_[static_cast<std::size_t>(token)] =
                tokens_.place_of_sums(token, products + std::int64_t{token} * shape_.head_dim);
        }
        outputs_.complete(tokens_, shape_.head_dim, products, rows_of_y_.data());
        for (int token = 0; token < tokens_.count(); ++token) {
            tokens_.finish(token, rows_of_y_[static_cast<std::size_t>(token)]);
        }
    }
    heads_.clear();
}

}  // namespace treeline::kernels::cpu
