// From a few measured steps of one deployment to the numbers of its software stack: what the cost model says of the device,
// plus host time of a step, round, sequence and token, and one factor on the time of kernels.
//
// Between deployments a model of a serving engine is off by much more than over the batches of one (kernel families, versions,
// hidden settings), so a few steps of one's own say more than any general law. Few steps carry few numbers: which ones are free
// is chosen by leaving batches out, and there is always a step more than free numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/round.h"

namespace treeline {

/// The numbers that may be free, in the order of preference where several explain the steps equally well.
enum class StackNumber {
    host_per_pass,            ///< seconds of every step
    kernel_time,              ///< factor on what kernels take: divides the shares of the peaks that the stack reaches
    host_per_round,           ///< seconds that a round with speculation adds
    host_per_sequence,        ///< seconds of each sequence of a step
    host_per_verified_token,  ///< seconds of each token of a step
    host_per_draft_token,     ///< seconds of each token of a draft, root included: of rounds alone
    host_per_draft_pass,      ///< seconds of each pass of the drafter
};
inline constexpr std::size_t stack_number_count = 7;
/// As the enumerators are called; those of Stack but for "kernel_time".
std::string_view name_of(StackNumber number);

/// Most numbers that are free at once, however many steps there are.
inline constexpr std::size_t most_free_numbers = 4;

/// A measured step: a round with speculation, or a step of plain decoding.
struct MeasuredStep {
    RoundSetup setup;   ///< its platform's stack is the one to begin with, the same for all steps
    DesignPoint point;  ///< must run
    Seconds time;       ///< of the whole batch; above 0
};

struct FittedStackNumber {
    StackNumber number = StackNumber::host_per_pass;
    double before = 0.0, value = 0.0;  ///< seconds, or a factor
    /// Of 90 %, by Student's t, within the bounds of the number; nothing but the value where it lies on a bound.
    double low = 0.0, high = 0.0;
};

/// What the stacks say of a measured step.
struct StepTimes {
    Seconds measured, before, fitted;
    Seconds
        left_out;  ///< by a fit, choice of free numbers included, that did not see this step's batch; 0 where none was possible
};

struct StackFit {
    Stack stack;                             ///< the one to begin with, its fitted numbers replaced
    std::vector<FittedStackNumber> numbers;  ///< empty where none of them helps
    std::vector<StepTimes> steps;            ///< in the order of the input
};

/// Every reason why no stack can be fitted, as sentences.
std::vector<std::string> problems_of(const std::vector<MeasuredStep>& steps);

/// Fits to steps without problems: robust least squares of relative errors (Huber, 5 %), every number within its bounds (times
/// at least 0; shares of peaks at most 1).
StackFit fit_stack(const std::vector<MeasuredStep>& steps);

/// What the stack says of such a step.
Seconds predicted_time(const MeasuredStep& step, const Stack& stack);

}  // namespace treeline
