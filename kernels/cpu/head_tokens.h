// The tokens of one sequence and head as a scan needs them, in floats.
#pragma once

#include <vector>

#include "kernels/cpu/rows.h"
#include "kernels/state_scan.h"

namespace treeline::kernels::cpu {

/// Holds one sequence, group and head at a time; what is shared with the previous head is kept.
class HeadTokens {
public:
    /// `at_once`: outputs are products of all tokens with a state at once, so C is wanted with the tokens as lanes, too.
    HeadTokens(const ScanShape& shape, const ScanTokens& tokens, const int* row_of, bool with_output, bool at_once);

    /// Returns whether B and C are others than before.
    bool move_to(int sequence, int head);

    [[nodiscard]] bool has_output() const { return with_output_; }
    [[nodiscard]] int count() const { return static_cast<int>(rows_.size()); }
    [[nodiscard]] float decay(int token) const { return decay_[static_cast<std::size_t>(token)]; }
    [[nodiscard]] const float* b(int token) const { return b_ + std::int64_t{token} * shape_.state_size; }
    [[nodiscard]] const float* c(int token) const { return c_ + std::int64_t{token} * shape_.state_size; }
    /// C of all tokens as transpose_tokens() leaves it, where it was asked for.
    [[nodiscard]] const float* c_by_token() const { return c_by_token_.data(); }
    /// dt * x, head_dim of them.
    [[nodiscard]] const float* input(int token) const { return input_ + std::int64_t{token} * shape_.head_dim; }

    /// Writes a token's row of y: `sum` (the part that comes from states, changed on the way) + D x, gated.
    void finish(int token, float* sum, Rows y, std::int64_t y_row) const;
    [[nodiscard]] int group_of(int head) const { return head / (shape_.heads / shape_.groups); }

private:
    void load_group(int group);
    void load_head(int head);

    const ScanShape& shape_;
    const ScanTokens& tokens_;
    const int* row_of_;
    bool with_output_, at_once_;
    int sequence_ = -1, group_ = -1, head_ = -1;
    std::vector<std::int64_t> rows_;
    Buffer b_, c_, c_by_token_, x_, input_, decay_, gate_;
};

}  // namespace treeline::kernels::cpu
