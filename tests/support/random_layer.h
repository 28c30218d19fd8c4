// Layers of random numbers for the C-simulation, and the trees that accelerators are tried with.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "kernels/hls/layer_run.h"

namespace treeline::kernels::accelerator {

inline std::vector<int> chain_parents(int tokens) {
    std::vector<int> parents;
    for (int i = 0; i < tokens; ++i) {
        parents.push_back(i - 1);
    }
    return parents;
}

/// Half of the tokens on the state before the round, each with one child: the most waiting states that a tree can have.
inline std::vector<int> comb_parents(int tokens) {
    std::vector<int> parents;
    const int heads = (tokens + 1) / 2;
    for (int i = 0; i < tokens; ++i) {
        parents.push_back(i < heads ? -1 : i - heads);
    }
    return parents;
}

/// One root, two children each.
inline std::vector<int> binary_parents(int tokens) {
    std::vector<int> parents;
    for (int i = 0; i < tokens; ++i) {
        parents.push_back(i == 0 ? -1 : (i - 1) / 2);
    }
    return parents;
}

/// Any breadth-first order may come out: parents never decrease. How bushy the tree is, is drawn, too.
inline std::vector<int> random_parents(int tokens, std::mt19937& random) {
    std::vector<int> parents = {-1};
    const unsigned siblings = 1 + random() % 4;
    for (int i = 1; i < tokens; ++i) {
        const bool next = random() % siblings == 0;
        parents.push_back(std::min(i - 1, parents.back() + (next ? 1 + static_cast<int>(random() % 2) : 0)));
    }
    return parents;
}

template <class S>
class RandomLayer {
public:
    RandomLayer(const LayerPlan& plan, unsigned seed) : random_(seed) {
        const int tokens = static_cast<int>(plan.parents.size());
        const int nodes = tokens + plan.replayed;
        data.blocks_per_head = 4;
        data.heads = (plan.inputs.blocks + data.blocks_per_head - 1) / data.blocks_per_head;
        data.input_shift = static_cast<int>(seed % (most_input_shift + 1));
        fill(data.inputs, {plan.inputs.blocks + plan.gate_blocks, plan.inputs.tiles}, tokens);
        fill(data.coefficients, plan.coefficients, tokens);
        fill(data.output, plan.output, tokens);
        data.coefficients.inputs = data.inputs.inputs;  // two parts of one layer
        // From sums that 16 bits hold nearly always to such that leave their range often.
        data.inputs.output_shift = 3 + static_cast<int>(seed % 6);
        draw(data.decay, nodes * data.heads, 24000, 32768);
        draw(data.step, nodes * data.heads, 0, 8192);
        draw(data.b, nodes * S::states, -128, 127);
        draw(data.c, nodes * S::states, -128, 127);
        data.memory.resize(static_cast<std::size_t>(plan.inputs.blocks * plan.state_tiles));
        for (StateTile<S>& tile : data.memory) {
            for (State& h : tile.h) {
                h = number(-20000, 20000);
            }
        }
        draw(data.cache_before, plan.inputs.blocks * S::most_tokens * S::tile_outputs, -32768, 32767);
        for (int i = 0; i < plan.replayed; ++i) {
            data.accepted.push_back(number(i, S::most_tokens - 1));
        }
    }

    LayerData<S> data;

private:
    int number(int low, int high) { return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1)); }

    template <class T>
    void draw(std::vector<T>& values, int count, int low, int high) {
        values.resize(static_cast<std::size_t>(count));
        for (T& value : values) {
            value = number(low, high);
        }
    }

    void fill(LinearData<S>& layer, const LinearTiles& tiles, int tokens) {
        layer.weights.resize(static_cast<std::size_t>(tiles.blocks * tiles.tiles));
        for (WeightTile<S>& tile : layer.weights) {
            for (int out = 0; out < S::tile_outputs; ++out) {
                tile.scale[out] = number(0, 63);
                for (int in = 0; in < S::tile_inputs; ++in) {
                    tile.weight[out][in] = number(-8, 7);
                }
            }
        }
        draw(layer.inputs, tokens * tiles.tiles * S::tile_inputs, -128, 127);
    }

    std::mt19937 random_;
};

}  // namespace treeline::kernels::accelerator
