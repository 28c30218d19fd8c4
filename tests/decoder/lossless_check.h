// Decoding speculatively in every way, and comparing the tokens with those of plain decoding.
//
// In exact arithmetic they are equal. In fp32 a pass of several tokens sums in another order than a pass of one, so logits
// differ in their last digits (relative errors of about 1e-6), and two ways can only part where the two largest logits are that
// close. The tests therefore decode with the first seed whose plain run never had its two largest logits within 2e-3 standard
// deviations of a row: a thousand times what rounding moves, on any machine. Everything else about equality is exact.
#pragma once

#include <catch2/catch.hpp>

#include "decoder_models.h"
#include "sim/rollback/rollback.h"

namespace treeline::testing {

using namespace treeline::decoder;

inline constexpr double least_margin = 2e-3;

struct Yardstick {
    DecodeSetup setup;
    std::vector<std::vector<int>> tokens;
};

inline DecodeSetup small_setup(const sim::Model& target) {
    DecodeSetup setup;
    setup.target = target;
    setup.batch = 3;
    setup.prompt_tokens = 7;
    setup.context_tokens = 5;
    setup.new_tokens = 24;
    return setup;
}

/// Plain decoding on the CPU with the first seed that leaves room for rounding.
inline Yardstick yardstick(DecodeSetup setup) {
    for (setup.seed = 1; setup.seed < 200; ++setup.seed) {
        DecodeSetup without = plain(setup);
        without.measure_margin = true;
        DecodeResult result = decode(without);
        if (result.smallest_margin > least_margin) {
            return {setup, std::move(result.tokens)};
        }
    }
    FAIL("no seed of 200 keeps the largest logits apart");
    return {};
}

inline std::vector<sim::Rollback> policies(const sim::Model& target, sim::Verification verification) {
    std::vector<sim::Rollback> possible = sim::rollbacks_for(target);
    std::erase_if(possible, [&](sim::Rollback rollback) { return !sim::rollback_problem(rollback, verification).empty(); });
    return possible;
}

inline std::vector<sim::DraftTree> shapes() {
    // A chain; a tree whose leaves lie on all levels, the accepted path seldom the first; one wider than a mask's word of 64.
    return {chain_of(4), sim::DraftTree::from_parents({0, 0, 0, 1, 1, 2, 4, 4, 6, 9}),
            sim::DraftTree::from_child_counts({8, 8, 8, 8, 8, 8, 8, 8, 8})};
}

/// Where a decoder runs.
struct Place {
    decoder::DeviceKind device = decoder::DeviceKind::cpu;
    GraphUse graphs = GraphUse::phases;
};

/// Every verification and policy; the accept length of the last.
inline double check_all_ways(const Yardstick& plain_run, const Drafter& drafter, const sim::DraftTree& tree, Place place = {}) {
    double accept_length = 0.0;
    for (const sim::Verification verification : sim::all_verifications) {
        for (const sim::Rollback rollback : policies(plain_run.setup.target, verification)) {
            DecodeSetup setup = plain_run.setup;
            setup.drafter = drafter;
            setup.tree = tree;
            setup.verification = verification;
            setup.rollback = rollback;
            setup.device = place.device;
            setup.graphs = place.graphs;
            const DecodeResult result = decode(setup);
            INFO(setup.target.name << ", seed " << setup.seed << ", " << tree.nodes() << " nodes, " << name_of(verification)
                                   << ", " << name_of(rollback));
            CHECK(result.tokens == plain_run.tokens);
            accept_length = result.accept_length();
        }
    }
    return accept_length;
}

}  // namespace treeline::testing
