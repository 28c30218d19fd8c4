// From which size a tree pays against the best chain, with rounds that are timed or simulated.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/break_even.h"
#include "calibrate/timings/time_source.h"
#include "sweeps/choices.h"
#include "text/provenance.h"

namespace treeline::sweeps {

/// Rounds from times of verification and drafting.
struct TimedRounds {
    calibrate::TimeSource verify;  ///< of nodes + 1 tokens
    calibrate::DraftingCost drafting;
    std::optional<calibrate::TimeSource> draft;  ///< of the draft nodes; added to `drafting`
};

/// Rounds priced by the simulator.
struct SimulatedRounds {
    TargetChoice target;
    sim::Platform platform;
    DrafterChoice drafter;
    std::optional<sim::Rollback> rollback;  ///< nothing: the fastest that fits
    sim::Decoding decoding = sim::Decoding::greedy;
    double batch = 1.0, context = 0.0;
};

/// Where one side's rounds come from: exactly one is set.
struct RoundSource {
    std::optional<TimedRounds> timed;
    std::optional<SimulatedRounds> simulated;
};

struct BreakEvenInput {
    std::string title, source;
    RoundSource tree, chain;
    std::vector<sim::Speculation> shapes;  ///< of trees; empty: sizes alone are compared (`nodes`)
    std::vector<int> nodes;
    std::vector<sim::Speculation> chains;
    std::optional<double> chain_accept_length;
    std::optional<sim::DraftAcceptance> acceptance;  ///< for timed rounds; simulated ones use their drafter's
    std::vector<text::Provenance> provenance;
};

struct BreakEvenAnswer {
    BreakEvenInput input;
    calibrate::BreakEven result;
};

/// Prices all rounds. Throws InputError where a table does not reach as far as the trees, or nothing can be run.
struct PricedRounds {
    calibrate::ChainRound chain;
    std::vector<calibrate::TreeRound> trees;
};
PricedRounds priced_rounds(const BreakEvenInput& input, const std::string& name);

/// "measured.csv: linear, …", or "llama-3-8b on h100-sxm, eagle, simulated".
std::string text_of(const RoundSource& source);

}  // namespace treeline::sweeps
