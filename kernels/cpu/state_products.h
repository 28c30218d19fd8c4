// Outputs of many tokens from one state: the products of all its rows with C of all tokens.
#pragma once

#include <cstddef>

#include "kernels/cpu/ahead.h"
#include "kernels/cpu/rows.h"
#include "kernels/state_scan.h"

namespace treeline::kernels::cpu {

/// C of the tokens of one sequence and group, in the two forms that multiply_state() takes.
class TokenMatrix {
public:
    TokenMatrix(int most_tokens, int state_size);

    /// `tokens` rows of state_size elements, which stay where they are while they are in use here.
    void set(const float* rows, int tokens);

    [[nodiscard]] int tokens() const { return tokens_; }
    [[nodiscard]] int state_size() const { return state_size_; }
    [[nodiscard]] const float* rows() const { return rows_; }
    /// Whether so few tokens are multiplied as rows; else as lanes of vectors.
    [[nodiscard]] bool as_rows() const;
    /// How many lanes the group of tokens from `first` on has: 8, 16 or 32.
    [[nodiscard]] int lanes(int first) const;
    /// Elements n = 0, 1, … of such a group, each in all lanes, 0 past the last token.
    [[nodiscard]] const float* group(int first) const { return by_lane_ + std::int64_t{first} * state_size_; }

private:
    int state_size_, tokens_ = 0;
    const float* rows_ = nullptr;
    Buffer by_lane_;
};

/// y[token][row] = <state row, C of the token> for `rows` (a multiple of 16) rows of a state, the first of which begins at
/// element `first`; tokens are `y_stride` apart in y. `wide` has room for 16 rows as floats. What follows them in memory is
/// prefetched, and so are `rows_ahead`.
void multiply_state(ConstStates states, std::int64_t first, int rows, const TokenMatrix& tokens, float* wide, float* y,
                    std::int64_t y_stride, RowsAhead& rows_ahead);

}  // namespace treeline::kernels::cpu
