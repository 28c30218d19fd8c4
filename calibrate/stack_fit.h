// From a few measured steps of one deployment to the numbers of its software stack: the device as the cost model has it, plus
// host times per step, round, sequence and token, and one factor on kernel time.
//
// Errors of a serving model differ far more between deployments (kernel families, versions, hidden settings) than over the
// batches of one, so a few steps of your own say more than any general law. One step gives one factor on all times, which
// takes up what steps of a deployment share of its error (sim::time_factor_of); a plain step and rounds at the same load give a
// second one, on what rounds take beyond plain steps. Of more steps, which numbers are free is chosen
// by leaving batches out, and there is always at least one step more than free numbers. Two or three steps cannot choose: then
// all numbers move, each drawn to what it was before as strongly as it varies little over deployments.
//
// What the numbers then still miss is kept load by load beside them (sim/measured_loads.h), so that the stack predicts the
// loads that it was fitted to as they were measured.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/enum_names.h"
#include "sim/round.h"

namespace treeline::calibrate {

/// The numbers that may be free, in order of preference if several explain the steps equally well.
enum class StackNumber {
    host_per_pass,            ///< seconds of every step
    kernel_time,              ///< factor on kernel time: divides the shares of the peaks that the stack reaches; in
                              ///< calibrated mode, the speed of linear layers
    host_per_round,           ///< seconds that a round with speculation adds
    host_per_sequence,        ///< seconds of each sequence of a step
    host_per_verified_token,  ///< seconds of each token of a step
    host_per_draft_token,     ///< seconds of each token of a draft, root included; only in rounds
    host_per_draft_pass,      ///< seconds of each pass of the drafter
    attention_time,  ///< factor on attention's products, in stacks whose attention has a rate of its own; roofline mode
    time_factor,     ///< factor on all times; free only where all steps are of one load
    round_factor,    ///< further factor on rounds with drafts; free beside time_factor alone
};
/// Factors that are the ratio of measured to modelled times, to a power.
inline bool is_ratio(StackNumber number) { return number == StackNumber::time_factor || number == StackNumber::round_factor; }
inline bool is_factor(StackNumber number) {
    using enum StackNumber;
    return number == kernel_time || number == attention_time || is_ratio(number);
}
/// The name of the field of Stack, "kernel_time" or "attention_time".
constexpr auto names_in(StackNumber) {
    using enum StackNumber;
    return enum_names<StackNumber>({{host_per_pass, "host_per_pass"},
                                    {kernel_time, "kernel_time"},
                                    {host_per_round, "host_per_round"},
                                    {host_per_sequence, "host_per_sequence"},
                                    {host_per_verified_token, "host_per_verified_token"},
                                    {host_per_draft_token, "host_per_draft_token"},
                                    {host_per_draft_pass, "host_per_draft_pass"},
                                    {attention_time, "attention_time"},
                                    {time_factor, "time_factor"},
                                    {round_factor, "round_factor"}});
}
inline constexpr std::size_t stack_number_count = values_of<StackNumber>().size();

/// The most numbers that are free at once, however many steps there are.
inline constexpr std::size_t most_free_numbers = 4;

/// A measured step: a round with speculation, or a step of plain decoding.
struct MeasuredStep {
    sim::RoundSetup setup;   ///< its platform's stack is the starting point, the same for all steps
    sim::DesignPoint point;  ///< must run
    Seconds time;            ///< of the whole batch; above 0
};

struct FittedStackNumber {
    StackNumber number = StackNumber::host_per_pass;
    double before = 0.0, value = 0.0;  ///< seconds, or a factor
    /// 90 % interval by Student's t, within the number's bounds; just the value if that is on a bound, or fitted to one step.
    double low = 0.0, high = 0.0;
};

/// A measured step, and what each stack predicts for it.
struct StepTimes {
    Seconds measured, before;
    Seconds by_numbers;  ///< by the fitted numbers alone
    Seconds fitted;      ///< by them and the measured loads
    Seconds left_out;    ///< by a fit that did not see this step's batch; 0 if none was possible
};

struct StackFit {
    sim::Stack stack;                        ///< the starting point with its fitted numbers replaced
    std::vector<FittedStackNumber> numbers;  ///< empty if none of them helps
    std::vector<StepTimes> steps;            ///< in the order of the input
};

/// Every reason why no stack can be fitted, as sentences.
std::vector<std::string> problems_of(const std::vector<MeasuredStep>& steps);

/// Fits to steps without problems: robust least squares of relative errors (Huber, 5 %), every number within its bounds (times
/// at least 0; shares of peaks at most 1).
StackFit fit_stack(const std::vector<MeasuredStep>& steps);

/// fit_stack().stack, without the work for its errors.
sim::Stack fitted_stack(const std::vector<MeasuredStep>& steps);

/// The time that the stack predicts for a step.
Seconds predicted_time(const MeasuredStep& step, const sim::Stack& stack);

}  // namespace treeline::calibrate
