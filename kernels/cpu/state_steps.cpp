#include "kernels/cpu/state_steps.h"

#include "kernels/cpu/instruction_sets.h"
#include "kernels/cpu/vectors.h"

namespace treeline::kernels::cpu {
namespace {

/// `rows` times `vectors` vectors of a state stay in registers while all tokens are added; a row of B is loaded once for all
/// rows. Reads the state where the outputs have just left it in a cache, or from memory where there are none.
template <class Vector, class Element, int rows, int vectors>
[[gnu::always_inline]] inline void advance_tile(const Element* from, Element* to, const Advance& advance, int row, int n,
                                                Ahead& ahead) {
    ahead.ask(rows * vectors * Lanes<Vector>::count * int{sizeof(Element)});
    Vector h[rows][vectors];
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) {
        const Element* at = from + std::int64_t{row + i} * advance.size + n;
        load_vectors(h[i], at);
#pragma GCC unroll 4
        for (int j = 0; j < vectors; ++j) {
            h[i][j] *= advance.decay;
        }
    }
    const float* weights = advance.weights + row;
    const float* b = advance.b + n;
    for (int token = 0; token < advance.tokens; ++token, weights += advance.weights_stride, b += advance.size) {
#pragma GCC unroll 4
        for (int j = 0; j < vectors; ++j) {
            Vector of_token;
            load_vector(of_token, b + j * Lanes<Vector>::count);
#pragma GCC unroll 4
            for (int i = 0; i < rows; ++i) {
                h[i][j] += weights[i] * of_token;
            }
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
        for (int j = 0; j < vectors; ++j) {
            store_vector(to + std::int64_t{row + i} * advance.size + n + j * Lanes<Vector>::count, h[i][j]);
        }
    }
}

template <class Vector, class Element, int rows>
[[gnu::always_inline]] inline void advance_all(const Element* from, Element* to, const Advance& advance,
                                               RowsAhead& rows_ahead) {
    constexpr int lanes = Lanes<Vector>::count;
    Ahead ahead(from, rows_ahead);
    for (int row = 0; row < advance.rows; row += rows) {
        int n = 0;
        for (; n + 4 * lanes <= advance.size; n += 4 * lanes) {
            advance_tile<Vector, Element, rows, 4>(from, to, advance, row, n, ahead);
        }
        for (; n < advance.size; n += lanes) {
            advance_tile<Vector, Element, rows, 1>(from, to, advance, row, n, ahead);
        }
    }
}

TREELINE_VECTORISED void advance_elements(const float* from, float* to, const Advance& advance, RowsAhead& rows_ahead,
                                          bool wide) {
    wide ? advance_all<Vector16, float, 4>(from, to, advance, rows_ahead)
         : advance_all<Vector8, float, 2>(from, to, advance, rows_ahead);
}
TREELINE_VECTORISED void advance_elements(const Bf16* from, Bf16* to, const Advance& advance, RowsAhead& rows_ahead,
                                          bool wide) {
    wide ? advance_all<Vector16, Bf16, 4>(from, to, advance, rows_ahead)
         : advance_all<Vector8, Bf16, 2>(from, to, advance, rows_ahead);
}

/// Four rows times `vectors` vectors of a state stay in registers over all tokens. Each step writes them, if every state is
/// wanted, and adds their share to the sums of y.
template <class Vector, class Element, int vectors, bool with_output>
[[gnu::always_inline]] inline void step_tile(const Element* from, Element* to, std::int64_t token_stride, bool stream,
                                             const Steps& steps, int row, int n, Ahead& ahead) {
    constexpr int lanes = Lanes<Vector>::count;
    ahead.ask(4 * vectors * lanes * int{sizeof(Element)});
    Vector h[4][vectors];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        const Element* at = from + std::int64_t{row + i} * steps.size + n;
        load_vectors(h[i], at);
    }
    for (int token = 0; token < steps.tokens; ++token) {
        const float* input = steps.input + std::int64_t{token} * steps.rows + row;
        const std::int64_t column = std::int64_t{token} * steps.size + n;
        const float decay = steps.decay[token];
        Vector sum[4] = {};
#pragma GCC unroll 4
        for (int j = 0; j < vectors; ++j) {
            Vector b, c;
            load_vector(b, steps.b + column + j * lanes);
            if constexpr (with_output) {
                load_vector(c, steps.c + column + j * lanes);
            }
#pragma GCC unroll 4
            for (int i = 0; i < 4; ++i) {
                h[i][j] = decay * h[i][j] + input[i] * b;
                if constexpr (with_output) {
                    sum[i] += h[i][j] * c;
                }
            }
        }
        if constexpr (with_output) {
            float* sums = steps.sums + (token * 4 + row / 4 % 4) * 16;
            Vector parts, so_far = {};
            sum_parts(parts, sum);
            if (n > 0) {
                load_vector(so_far, sums);
            }
            store_vector(sums, Vector(so_far + parts));
        }
        if (to == nullptr || (token_stride == 0 && token + 1 < steps.tokens)) {
            continue;
        }
        Element* target = to + token * token_stride + std::int64_t{row} * steps.size + n;
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
#pragma GCC unroll 4
            for (int j = 0; j < vectors; ++j) {
                Element* at = target + std::int64_t{i} * steps.size + j * lanes;
                stream ? stream_vector(at, h[i][j]) : store_vector(at, h[i][j]);
            }
        }
    }
}

template <class Vector, class Element, bool with_output>
[[gnu::always_inline]] inline void step_all(const Element* from, Element* to, std::int64_t token_stride, bool stream,
                                            const Steps& steps, RowsAhead& rows_ahead) {
    constexpr int lanes = Lanes<Vector>::count;
    constexpr int vectors = lanes == 16 ? 4 : 1;
    Ahead ahead(from, rows_ahead);
    for (int row = 0; row < steps.rows; row += 4) {
        int n = 0;
        for (; n + vectors * lanes <= steps.size; n += vectors * lanes) {
            step_tile<Vector, Element, vectors, with_output>(from, to, token_stride, stream, steps, row, n, ahead);
        }
        for (; n < steps.size; n += lanes) {
            step_tile<Vector, Element, 1, with_output>(from, to, token_stride, stream, steps, row, n, ahead);
        }
        for (int token = 0; with_output && row % 16 == 12 && token < steps.tokens; ++token) {
            Vector parts[4];
#pragma GCC unroll 4
            for (int i = 0; i < 4; ++i) {
                load_vector(parts[i], steps.sums + (token * 4 + i) * 16);
            }
            add_parts(steps.y + std::int64_t{token} * steps.rows + row - 12, parts);
        }
    }
}

template <class Element>
[[gnu::always_inline]] inline void step_elements(const Element* from, Element* to, std::int64_t token_stride, bool stream,
                                                 const Steps& steps, RowsAhead& rows_ahead, bool wide) {
    if (steps.c != nullptr) {
        wide ? step_all<Vector16, Element, true>(from, to, token_stride, stream, steps, rows_ahead)
             : step_all<Vector8, Element, true>(from, to, token_stride, stream, steps, rows_ahead);
    } else {
        wide ? step_all<Vector16, Element, false>(from, to, token_stride, stream, steps, rows_ahead)
             : step_all<Vector8, Element, false>(from, to, token_stride, stream, steps, rows_ahead);
    }
}

TREELINE_VECTORISED void step_floats(const float* from, float* to, std::int64_t token_stride, bool stream, const Steps& steps,
                                     RowsAhead& rows_ahead, bool wide) {
    step_elements(from, to, token_stride, stream, steps, rows_ahead, wide);
}
TREELINE_VECTORISED void step_halves(const Bf16* from, Bf16* to, std::int64_t token_stride, bool stream, const Steps& steps,
                                     RowsAhead& rows_ahead, bool wide) {
    step_elements(from, to, token_stride, stream, steps, rows_ahead, wide);
}

}  // namespace

void advance_state(ConstStates from, std::int64_t first_from, States to, std::int64_t first_to, const Advance& advance,
                   RowsAhead& rows_ahead) {
    if (from.type == ElementType::fp32) {
        advance_elements(static_cast<const float*>(from.data) + first_from, static_cast<float*>(to.data) + first_to, advance,
                         rows_ahead, has_wide_registers());
    } else {
        advance_elements(static_cast<const Bf16*>(from.data) + first_from, static_cast<Bf16*>(to.data) + first_to, advance,
                         rows_ahead, has_wide_registers());
    }
}

void step_state(ConstStates from, std::int64_t first, const Steps& steps, const StepTarget& target, RowsAhead& rows_ahead) {
    const bool writes = target.states.data != nullptr;
    if (from.type == ElementType::fp32) {
        step_floats(static_cast<const float*>(from.data) + first,
                    writes ? static_cast<float*>(target.states.data) + target.first : nullptr, target.token_stride,
                    target.stream, steps, rows_ahead, has_wide_registers());
    } else {
        step_halves(static_cast<const Bf16*>(from.data) + first,
                    writes ? static_cast<Bf16*>(target.states.data) + target.first : nullptr, target.token_stride,
                    target.stream, steps, rows_ahead, has_wide_registers());
    }
}

}  // namespace treeline::kernels::cpu
