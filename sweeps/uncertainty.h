// How sure a predicted gain is: inputs that are known only within a range are moved to both of its ends, one at a time, and the
// changes are added in quadrature.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sweeps/measured_errors.h"
#include "sweeps/workload.h"

namespace treeline::sweeps {

/// One uncertain input and the gain at both ends of its range.
struct Sensitivity {
    std::string input;
    std::string range;  ///< in words, with its source
    double low = 1.0;   ///< the smaller of the two gains
    double high = 1.0;
    bool unmeasured = false;  ///< errors of measured engines do not hold it: acceptance, modes of the engine that are unknown
};

/// Inputs of a platform that is priced by passes, other than acceptance: bandwidth, peak, drafter's efficiency, software time.
inline constexpr std::size_t uncertain_input_count = 4;

/// Moves each of them within its range: 0 is its lower end in time, 1 the upper one, in between evenly in the logarithm.
void move_inputs(const sim::Platform& platform, std::span<const double> places, sim::CompiledRound& round);

struct GainInterval {
    bool of_capacity = false;  ///< Outcome::gain_of_capacity
    double value = 1.0;        ///< with every input at its stated value
    double low = 1.0;
    double high = 1.0;
    std::vector<Sensitivity> inputs;  ///< the one that moves the answer most first
    double beside = 1.0;              ///< what the gain over plain decoding on the same cut was multiplied by
};

/// The same gain over plain decoding on another cut of the devices, as `gain` says it; what moves it moves it alike.
GainInterval over_plain_of_another_cut(GainInterval interval, double gain);

/// A round at both ends of one input's range.
struct UncertainRound {
    std::string input, range;
    sim::CompiledRound low, high;
    bool of_acceptance = false;  ///< it changes what is accepted, not what a round takes
    bool of_mode = false;        ///< what the engine does of two things, which nobody states
};

/// The round of this setup with each uncertain input moved to both ends of its range, one at a time.
std::vector<UncertainRound> uncertain_rounds(const sim::RoundSetup& setup);

/// The gain in the objective over the traffic (as Outcome::gain) of this setup under a plan, and its interval.
GainInterval gain_interval(const sim::RoundSetup& setup, const DraftPlan& plan, const Traffic& traffic, Objective objective);

/// The same of any other gain, which is `stated` with every input at its stated value.
GainInterval gain_interval(const sim::RoundSetup& setup, double stated,
                           const std::function<double(const sim::CompiledRound&)>& gain);

/// An interval for the gain that holds what is unknown: what predictions missed where engines were measured, and how far the
/// acceptance may lie from what is stated, with modes of the engine that are unknown (added in quadrature of logarithms:
/// neither knows of the other).
struct MeasuredGain {
    double nominal = 0.8;
    double low = 1.0, high = 1.0;
    double engine_low = 1.0, engine_high = 1.0;  ///< with the acceptance as stated
    std::size_t cases = 0, sources = 0;          ///< that the errors come from
    std::size_t of_engine = 0;                   ///< cases on the same engine
    bool own_deployment = false;                 ///< steps of this deployment were measured: the errors are its own
};

/// Factors on the predicted time per token of plain decoding, between which it lies.
struct MeasuredTime {
    double nominal = 0.8;
    double low = 1.0, high = 1.0;
    std::size_t cases = 0, sources = 0;  ///< as in MeasuredGain
    std::size_t of_engine = 0;
    bool own_deployment = false;
};

/// Of the inputs that are `unmeasured`, added in quadrature of logarithms.
UnmeasuredFactors unmeasured_factors(const GainInterval& interval);

}  // namespace treeline::sweeps
