// From which size a tree pays against the best chain, with rounds that are timed or simulated.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/break_even.h"
#include "calibrate/timings/time_source.h"
#include "sweeps/choices.h"
#include "text/provenance.h"

namespace treeline {

/// Rounds from times of verification and drafting.
struct TimedRounds {
    TimeSource verify;  ///< of nodes + 1 tokens
    DraftingCost drafting;
    std::optional<TimeSource> draft;  ///< of the draft nodes; added to `drafting`
};

/// Rounds priced by the simulator.
struct SimulatedRounds {
    TargetChoice target;
    Platform platform;
    DrafterChoice drafter;
    std::optional<Rollback> rollback;  ///< nothing: the fastest that fits
    Decoding decoding = Decoding::greedy;
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
    std::vector<Speculation> shapes;  ///< of trees; empty: sizes alone are compared (`nodes`)
    std::vector<int> nodes;
    std::vector<Speculation> chains;
    std::optional<double> chain_accept_length;
    std::optional<DraftAcceptance> acceptance;  ///< for timed rounds; simulated ones use their drafter's
    std::vector<Provenance> provenance;
};

struct BreakEvenAnswer {
    BreakEvenInput input;
    BreakEven result;
};

/// Prices all rounds. Throws InputError where a table does not reach as far as the trees, or nothing can be run.
struct PricedRounds {
    ChainRound chain;
    std::vector<TreeRound> trees;
};
PricedRounds priced_rounds(const BreakEvenInput& input, const std::string& name);

/// "measured.csv: linear, …", or "llama-3-8b on h100-sxm, eagle, simulated".
std::string text_of(const RoundSource& source);

}  // namespace treeline
