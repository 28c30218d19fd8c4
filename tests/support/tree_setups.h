// Setups with trees, on acceptance by rank.
#pragma once

#include <utility>
#include <vector>

#include "setups.h"

namespace treeline::testing {

inline const RankAcceptance ranks({0.6, 0.15, 0.06, 0.03});

inline RoundSetup with_trees(RoundSetup setup, std::vector<Speculation> speculations, Rollback rollback) {
    setup.acceptance = Acceptance::geometric(ranks.rank(1));
    setup.acceptance.siblings = ranks;
    setup.rollback = rollback;
    setup.speculations = chains_up_to(0);
    setup.speculations.insert(setup.speculations.end(), speculations.begin(), speculations.end());
    return setup;
}

inline RoundSetup llama(std::vector<Speculation> speculations) {
    return with_trees(pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph")), std::move(speculations),
                      Rollback::truncate);
}

inline Speculation shaped(TreeShape shape, Verification verification) { return {std::move(shape), verification, "tree"}; }
inline Speculation chain(int k) { return {ChainShape{k}, Verification::unrolled, "chain"}; }

}  // namespace treeline::testing
