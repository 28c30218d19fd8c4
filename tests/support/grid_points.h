// All points of a grid, one by one.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "sim/round_grid.h"

namespace treeline::testing {

/// Calls `check` with each point of shapes, batches and contexts, and with what the grid says of it.
template <class Check>
void at_each_point(const sim::CompiledRound& round, const std::vector<int>& shapes, const std::vector<double>& batches,
                   const std::vector<double>& contexts, Check check) {
    const sim::RoundGrid grid(round, shapes, batches);
    sim::TileWork work;
    const auto estimates = std::make_unique<sim::EstimateColumns>();
    for (std::size_t c = 0; c < contexts.size(); c += grid.contexts_of_tile()) {
        const auto of_tile = std::span(contexts).subspan(c, std::min(grid.contexts_of_tile(), contexts.size() - c));
        for (std::size_t block = 0; block < grid.blocks(); ++block) {
            grid.begin(block, of_tile, work);
            for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
                grid.evaluate(shape, work, *estimates);
                for (std::size_t i = 0; i < estimates->size; ++i) {
                    const std::size_t batch = grid.first_batch(block) + i % grid.block_size(block);
                    check(sim::DesignPoint{shapes[shape], batches[batch], of_tile[i / grid.block_size(block)]},
                          estimates->at(i));
                }
            }
        }
    }
}

}  // namespace treeline::testing
