// Which few runs of the engine would make a recommendation surer: the expected value of what they would measure.
//
// The uncertain inputs of a gain (sweeps/uncertainty.h) are taken as independent normal variables whose 80 % ranges are theirs,
// and gains and times of runs as linear in them. Beside them stands what the model leaves even when its inputs are known: an
// error of all steps and one of all rounds, each with a part of its own at every batch. So a round that is measured without
// the plain step of its batch says little about the gain. Then what remains after a set of runs follows in closed form,
// whatever they will turn out to measure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sweeps/recommend.h"

namespace treeline::sweeps {

/// A run that could be made: steps of one draft length at a batch, or the acceptance of real requests.
struct CandidateRun {
    bool of_acceptance = false;  ///< real requests, for how many drafts they accept; else times, with simulated acceptance
    int draft_tokens = 0;        ///< 0: plain decoding
    double batch = 1.0, context = 0.0;
    double seconds_predicted = 0.0;  ///< of a step or round
    /// The tree that the draft tokens form, in the words of the engine; nothing for a chain. Its acceptance is not simulated.
    std::optional<sim::TreeShape> tree = std::nullopt;
};

/// A run with what is known after it and those before it.
struct PlannedRun {
    CandidateRun run;
    double low = 0.0, high = 0.0;      ///< 80 % interval of the gain expected then
    double value = 0.0;                ///< expected rise of the gain, as a share, by choosing after these runs instead of now
    std::vector<std::string> settles;  ///< inputs whose uncertainty it more than halves
};

struct MeasurementPlan {
    double gain = 0.0;
    double low = 0.0, high = 0.0;  ///< before any run
    double perfect = 0.0;          ///< the value of knowing everything
    std::vector<PlannedRun> runs;  ///< the most valuable first
    std::vector<std::string> inputs;
};

/// Where plain decoding is recommended: the recommendation without a minimum gain, with the best configuration that drafts a
/// chain in front, so that runs can be planned that might show it to pay. Nothing where none meets the other limits.
std::optional<Recommendation> best_drafting(Workload workload);

/// At most `most` runs for the recommended configuration, which must draft a chain; rivals are the chains of other lengths and
/// plain decoding. `error` is the relative error that a run's time still has for the rounds it stands for.
MeasurementPlan plan_measurements(const Recommendation& recommendation, const Workload& workload, int most,
                                  double error = 0.015);

}  // namespace treeline::sweeps
