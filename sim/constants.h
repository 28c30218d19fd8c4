// Numbers of the world that no file of models/ or hardware/ states, since they hold for all of them: each with its meaning, its
// source and of which kind it is. docs/cost-model.md lists them, from here; a test fails where it does not. What is arithmetic,
// a format's layout or a choice of this program is no such number and stands where it is used.
#pragma once

#include <span>
#include <string_view>

#include "sim/enum_names.h"

namespace treeline::sim {

/// As "kind" of a described value (hardware/README.md).
enum class ConstantKind { published, measured, derived, fitted, assumed };
constexpr auto names_in(ConstantKind) {
    using enum ConstantKind;
    return enum_names<ConstantKind>(
        {{published, "published"}, {measured, "measured"}, {derived, "derived"}, {fitted, "fitted"}, {assumed, "assumed"}});
}

struct Constant {
    std::string_view name;
    double value;
    std::string_view meaning;  ///< Markdown, with the unit if there is one
    ConstantKind kind;
    std::string_view source;

    constexpr operator double() const { return value; }
};

// Acceptance.

/// Conditional rates fall along a chain as c_i = c_1·i^−fall. Fits by kind of drafter do not predict left-out targets better.
inline constexpr Constant measured_fall{
    "measured_fall", 0.10, "conditional rates of a drafter fall as `i^-fall` along a chain", ConstantKind::fitted,
    "drafters measured at several draft lengths up to 8 (models/drafters, look-ups left out; 71 curves of 16 targets), least "
    "mean error of accept lengths, one vote a target: `treeline_acceptance_curves`"};
inline constexpr Constant fall_of_lookups{"fall_of_lookups", 0.0, "the same of look-ups, once they found something",
                                          ConstantKind::assumed, "`lookup_first` and `lookup_further` do not fall"};
/// By how much the log-odds of c_i lie below and above that law: −steeper·ln i and +flatter·ln i hold 80 % of the targets
/// between them. Modules that were trained for one token and run again fall steeply (DeepSeek's and GLM-5.1's).
inline constexpr Constant steeper_curve{
    "steeper_curve", 1.35, "nine targets in ten fall by no more than this, times `ln i`, below that law, in log-odds",
    ConstantKind::fitted, "the same curves: `treeline_acceptance_curves`"};
inline constexpr Constant flatter_curve{"flatter_curve", 0.2, "and lie no more than this above it", ConstantKind::fitted,
                                        "the same curves: `treeline_acceptance_curves`"};
inline constexpr Constant deviation_of_kinds{"deviation_of_kinds", 0.55,
                                             "standard deviation of a drafter's rate between kinds of requests, in log-odds",
                                             ConstantKind::fitted, "models/drafters: `treeline_acceptance_curves`"};
inline constexpr Constant kinds_of_the_rest{"kinds_of_the_rest", 4.0,
                                            "degrees of freedom that this counts as beside a drafter's own kinds",
                                            ConstantKind::fitted, "models/drafters: `treeline_acceptance_curves`"};
/// On the same kinds of requests. Drafters for models of one family are no more alike than others of their kind.
inline constexpr Constant deviation_of_drafters{"deviation_of_drafters", 0.42, "the same between drafters of a kind",
                                                ConstantKind::fitted, "models/drafters: `treeline_acceptance_curves`"};
inline constexpr Constant deviation_of_a_measurement{
    "deviation_of_a_measurement", 0.40,
    "what the mean of one kind of requests leaves unknown of a drafter, when how others differ between kinds is taken off",
    ConstantKind::fitted, "models/drafters: `treeline_acceptance_curves`"};
inline constexpr Constant lookup_first{"lookup_first", 0.62, "rate at which the first draft is accepted that a look-up found",
                                       ConstantKind::measured,
                                       "suffix decoding on MT-bench, vllm-project/vllm pull request 24852"};
inline constexpr Constant lookup_further{"lookup_further", 0.75, "and each further one", ConstantKind::assumed,
                                         "between the first one's and what repeated text would give"};

// Experts.

/// Tokens that follow each other resemble each other: a verified draft touches fewer experts than as many sequences would.
inline constexpr Constant own_routing_of_drafts{
    "own_routing_of_drafts", 0.6, "share of its experts that a drafted token chooses anew, not as the one before it",
    ConstantKind::fitted, "speed-ups of seven mixtures, each left out once (section 1.2)"};
inline constexpr Constant popular_experts{
    "popular_experts", 0.1, "share of the experts that stand for the popular ones of a power law", ConstantKind::assumed,
    "two kinds at their means; unit/sim/expert_popularity draws routing and compares"};

// Times of one deployment.

inline constexpr Constant error_shared_by_deployment{
    "error_shared_by_deployment", 0.7,
    "of the logarithm of what one step errs by, the share that the other steps of its deployment err by, too",
    ConstantKind::fitted, "steps of dense models and mixtures at other batches than the one measured: `treeline_serving_fit`"};
inline constexpr Constant usual_step_error{"usual_step_error", 0.037,
                                           "median error of other loads of a deployment with one measured step",
                                           ConstantKind::measured, "published serving runs (docs/trust.md)"};
inline constexpr Constant reach_of_batch{
    "reach_of_batch", 3.0, "distance in ln(batch) over which what a load errs by falls to 1/e at others", ConstantKind::fitted,
    "measured ratios of public deployments left out one by one (section 9.4)"};
inline constexpr Constant reach_of_context{"reach_of_context", 2.0, "the same in ln(context + 500)", ConstantKind::fitted,
                                           "as `reach_of_batch`"};
inline constexpr Constant reach_of_drafts{"reach_of_drafts", 2.0, "the same in ln(1 + drafts)", ConstantKind::fitted,
                                          "as `reach_of_batch`"};
inline constexpr Constant reach_of_one_load{
    "reach_of_one_load", 0.1, "the reaches over batch and context, times so much, where one load alone was measured",
    ConstantKind::fitted, "as `reach_of_batch`"};

// Kernels.

/// Whichever it is may not depend on the other device's rates: a larger tile where it computes a little more would make that
/// slower.
inline constexpr Constant least_carried_tile{
    "least_carried_tile", 32.0,
    "rows of the smallest tile of linear layers where a law is carried over from another device that shows one size alone",
    ConstantKind::fitted, "laws of A100, H100 and L40S carried over to each other: `treeline_kernel_times transfer`"};
inline constexpr Constant largest_carried_tile{"largest_carried_tile", 64.0, "and of the largest", ConstantKind::fitted,
                                               "as `least_carried_tile`"};
/// Where a multiprocessor has less bandwidth (L40S, RTX PRO 6000), memory sets the pace.
inline constexpr Constant unpacked_by_multiprocessor{
    "unpacked_by_multiprocessor", 3.35e12 / 132.0, "bytes of int4 weights that a multiprocessor unpacks in a second",
    ConstantKind::derived, "its share of the bandwidth of H100, the fastest device on which Marlin's kernels were measured"};
inline constexpr Constant measured_law_error{"measured_law_error", 0.13,
                                             "90th percentile of the errors of measured kernels' laws on shapes held out",
                                             ConstantKind::measured, "8.5 to 12.2 % by device (docs/claims.md)"};
inline constexpr Constant derived_law_error{"derived_law_error", 0.39,
                                            "the same of laws carried over from a device of another architecture",
                                            ConstantKind::measured, "A100, H100 and L40S from each other (docs/claims.md)"};
inline constexpr Constant streamed_from{
    "streamed_from", 32.0, "tokens of a pass from which on llama.cpp copies weights over the link, and computes on the device",
    ConstantKind::published, "op_offload of ggml; of experts, those that are touched"};
inline constexpr Constant eager_kernel{"eager_kernel", 6.5e-6, "host time of a kernel launched without a graph, in seconds",
                                       ConstantKind::measured, "5 to 7 us, hardware/stacks/eager.json"};
inline constexpr Constant eager_kernels{"eager_kernels", 6.0, "such kernels for each operation of the model",
                                        ConstantKind::measured, "hardware/stacks/eager.json"};

// Energy.

inline constexpr Constant usual_energy_error{
    "usual_energy_error", 0.13, "median error of a token's energy on a device that the rule for all devices was not fitted to",
    ConstantKind::measured, "H100 and B200 from each other, the larger one: `treeline_energy`"};
inline constexpr Constant energy_error{"energy_error", 0.37, "90th percentile of the same", ConstantKind::measured,
                                       "as `usual_energy_error`"};

/// All of them, in the order of the tables.
std::span<const Constant* const> all_constants();

}  // namespace treeline::sim
