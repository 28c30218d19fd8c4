// Setups of a software stack with one number beside the ideal one, for tests of what each adds.
#pragma once

#include <catch2/catch.hpp>

#include "setups.h"

namespace treeline::testing::stack_setups {

inline constexpr double microsecond = 1e-6;
inline constexpr double layers = 64.0;  // of Mamba-2 2.7B

inline sim::Speculation chain(int tokens) { return {sim::ChainShape{tokens}, sim::Verification::unrolled, "chain"}; }

/// Mamba-2 2.7B on an A10G with n-gram drafts that cost nothing.
inline sim::RoundSetup mamba_setup(sim::Rollback rollback, const sim::Speculation& speculation) {
    sim::RoundSetup setup;
    setup.target = model("mamba2-2.7b");
    setup.precision = setup.target.precision;
    setup.platform = platform("a10g", "ideal");
    setup.drafter = sim::NgramDrafter{Seconds(0.0)};
    setup.acceptance = sim::Acceptance::geometric(0.5);
    setup.rollback = rollback;
    setup.speculations = {chain(0), speculation};
    return setup;
}

inline sim::RoundEstimate estimate(const sim::RoundSetup& setup, double batch = 1.0) {
    REQUIRE(problems_of(setup).empty());
    const sim::CompiledRound round = sim::compile_round(setup);
    REQUIRE(round.runs(1));
    return sim::evaluate(round, {1, batch, 100.0});
}

/// What `change` of the stack adds to a round, in microseconds.
template <class Change>
double added_microseconds(sim::RoundSetup setup, double batch, Change change) {
    const Seconds before = estimate(setup, batch).round;
    change(setup.platform.stack);
    return (estimate(setup, batch).round - before).value() / microsecond;
}

}  // namespace treeline::testing::stack_setups
