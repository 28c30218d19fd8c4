// The tokens of one sequence and head as a scan needs them, in floats.
#pragma once

#include <vector>

#include "kernels/cpu/rows.h"
#include "kernels/cpu/state_products.h"
#include "kernels/state_scan.h"

namespace treeline::kernels::cpu {

/// Holds one sequence, group and head at a time; what is shared with the previous head is kept.
class HeadTokens {
public:
    /// `y`: where outputs go, if anywhere. `at_once`: they are products of all tokens with a state at once, so C is wanted as a
    /// TokenMatrix.
    HeadTokens(const ScanShape& shape, const ScanTokens& tokens, const int* row_of, Rows y, bool at_once);

    /// Returns whether B and C are others than before.
    bool move_to(int sequence, int head);

    [[nodiscard]] bool has_output() const { return static_cast<bool>(y_); }
    [[nodiscard]] int count() const { return static_cast<int>(rows_.size()); }
    [[nodiscard]] float dt(int token) const { return dt_[lane_of(token)]; }
    [[nodiscard]] float decay(int token) const { return decay_[lane_of(token)]; }
    [[nodiscard]] float d() const { return tokens_.d != nullptr ? tokens_.d[head_] : 0.0F; }
    /// Rows of state_size elements, one after another.
    [[nodiscard]] const float* b(int token) const { return b_ + std::int64_t{token} * shape_.state_size; }
    [[nodiscard]] const float* c(int token) const { return c_ + std::int64_t{token} * shape_.state_size; }
    [[nodiscard]] const TokenMatrix& matrix() const { return matrix_; }
    /// head_dim elements.
    [[nodiscard]] const float* x(int token) const { return x_rows_[static_cast<std::size_t>(token)]; }
    [[nodiscard]] const float* const* x_rows() const { return x_rows_.data(); }

    /// Where the sums of a token's row of y are best put: there, if it holds floats, else in `sums`.
    [[nodiscard]] float* place_of_sums(int token, float* sums) const;
    /// Completes a row whose sums are where place_of_sums() says: they are gated and stored.
    void finish(int token, float* sums) const;

    /// What the next head will read and write.
    [[nodiscard]] RowsAhead& rows_ahead() { return rows_ahead_; }

private:
    /// Heads whose dt are made from what the tokens bring together: as many as fill a vector.
    static constexpr int heads_at_once = 16;

    [[nodiscard]] std::size_t lane_of(int token) const {
        return static_cast<std::size_t>(token * heads_at_once + head_ % heads_at_once);
    }
    void load_group(int group);
    void load_steps(int first_head);
    void load_head(int head);
    void look_ahead();
    [[nodiscard]] std::int64_t row_of_y(int token) const { return std::int64_t{sequence_} * shape_.tokens + token; }

    const ScanShape& shape_;
    const ScanTokens& tokens_;
    const int* row_of_;
    Rows y_;
    bool at_once_;
    int sequence_ = -1, group_ = -1, head_ = -1;
    std::vector<std::int64_t> rows_;
    std::vector<const float*> x_rows_;
    Buffer b_, c_, x_, dt_, decay_, gate_;
    TokenMatrix matrix_;
    RowsAhead rows_ahead_;
};

}  // namespace treeline::kernels::cpu
