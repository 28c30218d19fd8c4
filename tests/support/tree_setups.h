// Setups with trees, on acceptance by rank.
#pragma once

#include <utility>
#include <vector>

#include "setups.h"

namespace treeline::testing {

inline const sim::RankAcceptance ranks({0.6, 0.15, 0.06, 0.03});

inline sim::RoundSetup with_trees(sim::RoundSetup setup, std::vector<sim::Speculation> speculations, sim::Rollback rollback) {
    setup.acceptance = sim::Acceptance::geometric(ranks.rank(1));
    setup.acceptance.siblings = ranks;
    setup.rollback = rollback;
    setup.speculations = sim::chains_up_to(0);
    setup.speculations.insert(setup.speculations.end(), speculations.begin(), speculations.end());
    return setup;
}

inline sim::RoundSetup llama(std::vector<sim::Speculation> speculations) {
    return with_trees(pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph")), std::move(speculations),
                      sim::Rollback::truncate);
}

inline sim::Speculation shaped(sim::TreeShape shape, sim::Verification verification) {
    return {std::move(shape), verification, "tree"};
}
inline sim::Speculation chain(int k) { return {sim::ChainShape{k}, sim::Verification::unrolled, "chain"}; }

}  // namespace treeline::testing
