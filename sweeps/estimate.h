// One design point: what it costs, phase by phase.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/critical.h"
#include "sweeps/choices.h"
#include "sweeps/goal.h"
#include "sweeps/load.h"
#include "sweeps/measured_errors.h"
#include "sweeps/uncertainty.h"
#include "text/provenance.h"

namespace treeline::sweeps {

struct PointInput {
    std::string title, source;
    TargetChoice target;
    sim::Platform platform;
    std::optional<DrafterChoice> drafter;   ///< nothing: plain decoding
    std::optional<sim::Rollback> rollback;  ///< nothing: the best that fits of those that the stack does without a flag
    sim::Decoding decoding = sim::Decoding::greedy;
    std::vector<sim::Speculation> speculations;  ///< plain decoding, and the shape in every way of verifying that may be used
    double batch = 1.0;                          ///< where no load is given; in a PointEstimate, where the load settles
    Load load;                                   ///< needs output_tokens
    double context = 0.0;
    double prompt_tokens = 0.0;
    sim::Lengths prompt_lengths;                ///< of which prompt_tokens is the mean; empty: all are as long
    double prefix_hit = 0.0;                    ///< share of a prompt that the prefix cache holds
    double shared_prefix = 0.0;                 ///< tokens that all prompts begin with
    double expert_pool = 1.0;                   ///< RoundSetup::expert_pool
    double output_tokens = 0.0;                 ///< of an answer in the steady state; 0: decoding alone
    std::optional<sim::TrainingCost> training;  ///< if requested: does training the drafter pay?
    std::vector<text::Provenance> provenance;
    MeasuredErrors errors;  ///< empty: nothing is known of what predictions missed

    [[nodiscard]] bool speculates() const { return speculations.size() > 1; }
};

/// The rollback policies that the input leaves open, or its own.
std::vector<sim::Rollback> policies_to_try(const PointInput& input);

/// Problems of the setup that no choice among what is left open would mend, as sentences.
std::vector<std::string> problems_of(const PointInput& input);

/// The setup that this input describes under one rollback policy. Without a drafter, one that never drafts.
sim::RoundSetup setup_of(const PointInput& input, sim::Rollback rollback);

/// One rollback policy and one way of verifying, tried at the point.
struct PolicyTrial {
    sim::Rollback rollback = sim::Rollback::truncate;
    int speculation = 0;  ///< index into PointInput::speculations
    std::string problem;  ///< why it cannot be run: a sentence; there is no estimate then
    sim::RoundEstimate estimate;
};

struct PointEstimate {
    PointInput input;
    sim::Rollback rollback = sim::Rollback::truncate;  ///< the one used below
    sim::DesignPoint point;                            ///< likewise, the way of verifying
    SettledLoad load, plain_load;  ///< of the configuration and of plain decoding; both at the batch if none is given
    sim::CompiledRound round;
    sim::RoundEstimate speculative;  ///< equals `plain` without a drafter
    sim::RoundEstimate plain;        ///< the same server without the drafter, under the same load
    /// Tokens/s per device over those of plain decoding; under arrivals that both can serve, the speed-up, and where one
    /// cannot, what this one serves at most over what plain decoding does.
    double gain = 1.0;
    Objective objective = Objective::throughput;              ///< that the gain is in: latency under arrivals
    double break_even_accept_length = 1.0;                    ///< below it, the gain is below 1
    double most_sequences = 0.0, plain_most_sequences = 0.0;  ///< that the server holds at the point's context
    std::vector<PolicyTrial> trials;
    std::vector<sim::ExplainedPass> passes;
    std::vector<sim::MemoryPart> memory;
    Seconds first_token, plain_first_token;  ///< TTFT under the load; without one, of a prompt alone
    double critical_context = 0.0;           ///< critical_points.h; unlimited on accelerators
    std::optional<double> critical_batch;    ///< critical_points.h, at the point's context; nothing on accelerators,
                                             ///< where sequences do not share a pass
    bool knows_energy = false, knows_price = false;
    // Nothing where the point does not fit.
    std::optional<GainChances> chances;      ///< that it pays, if it speculates and engines like this one were measured
    std::optional<MeasuredGain> measured;    ///< the interval of the gain, likewise
    std::optional<GainInterval> interval;    ///< the same from the ranges of inputs, if it speculates and any errors are known
    std::optional<MeasuredTime> plain_time;  ///< the interval of the time per token without speculation
};

/// Prices a point that read_point() accepted. Where the input leaves rollback or verification open: the choice that generates
/// most tokens/s per device under the load (without one, the highest throughput multiplier) among those that fit, else the one
/// that needs the least memory. A load beyond what can be served is answered at the largest batch; SettledLoad::problem says
/// so.
PointEstimate estimate_point(PointInput input);

/// The gain of the same point with another rollback policy; nothing where that cannot be run, does not fit or serves less than
/// the load.
std::optional<double> gain_with(const PointEstimate& estimate, sim::Rollback rollback);

/// The shape and how it is verified.
const sim::Speculation& speculation_of(const PointEstimate& estimate);
/// Its row of the compiled round.
const sim::RoundRow& row_of(const PointEstimate& estimate);

}  // namespace treeline::sweeps
