// How scans by steps (step_scans.cu) go over tokens.
#pragma once

#include "kernels/cuda/elements.cuh"

namespace treeline::kernels::cuda {

constexpr int warp = 32;

template <class Activation, class State>
struct Steps {
    int tokens;
    const int* row_of;
    TreeView tree;
    const State* initial;
    const int* state_of;
    Matrix<Activation> y;
    StateWrite write;
    State* written;
    const int* written_to;

    explicit Steps(const ScanSteps& steps)
        : tokens(steps.tokens),
          row_of(steps.row_of),
          tree(steps.tree),
          initial(static_cast<const State*>(steps.initial.data)),
          state_of(steps.state_of),
          y(typed<Activation>(steps.y)),
          write(steps.write),
          written(static_cast<State*>(steps.written.data)),
          written_to(steps.written_to) {}
};

__device__ inline float softplus(float value) { return value > 20.0F ? value : log1pf(expf(value)); }

/// Walks one warp over the tokens of a sequence. Each lane holds `Pieces` of `Width` neighbours of the state, number i from
/// element first + place(i) on, or none where that is negative; `kept` has room for them after every token of a tree.
/// step(h, row, place) advances h.
template <int Pieces, int Width, class Activation, class State, class Place, class Step>
__device__ void walk(const Steps<Activation, State>& p, int sequence, std::int64_t elements_of_state, std::int64_t first,
                     Place place_of, float* kept, Step step) {
    const int lane = static_cast<int>(threadIdx.x) % warp;
    const std::int64_t from = p.state_of != nullptr ? p.state_of[sequence] : sequence;
    if (from < 0) {
        return;
    }
    float initial[Pieces][Width] = {}, h[Pieces][Width];
#pragma unroll
    for (int i = 0; i < Pieces; ++i) {
        if (place_of(i) >= 0) {
            get_neighbours(p.initial, from * elements_of_state + first + place_of(i), initial[i]);
        }
    }
    const auto each = [&](auto use) {
#pragma unroll
        for (int i = 0; i < Pieces; ++i) {
#pragma unroll
            for (int j = 0; j < Width; ++j) {
                use(i, j, (i * Width + j) * warp + lane);
            }
        }
    };
    each([&](int i, int j, int) { h[i][j] = initial[i][j]; });
    const auto save = [&](std::int64_t state) {
#pragma unroll
        for (int i = 0; i < Pieces; ++i) {
            if (place_of(i) >= 0) {
                put_neighbours(p.written, state * elements_of_state + first + place_of(i), h[i]);
            }
        }
    };
    for (int token = 0; token < p.tokens; ++token) {
        const std::int64_t place = static_cast<std::int64_t>(sequence) * p.tokens + token;
        const std::int64_t row = p.row_of != nullptr ? p.row_of[place] : place;
        if (row < 0) {
            break;
        }
        if (p.tree.parent != nullptr) {
            const int parent = p.tree.parent[token];
            // Each lane reads what it wrote.
            each([&](int i, int j, int at) {
                h[i][j] = parent < 0 ? initial[i][j] : kept[parent * Pieces * Width * warp + at];
            });
        }
        step(h, row, place);
        if (p.tree.parent != nullptr) {
            each([&](int i, int j, int at) { kept[token * Pieces * Width * warp + at] = h[i][j]; });
        }
        if (p.write == StateWrite::every) {
            save(place);
        }
    }
    if (p.write == StateWrite::final) {
        save(p.written_to != nullptr ? p.written_to[sequence] : sequence);
    }
}

}  // namespace treeline::kernels::cuda
