// What measured curves of acceptance have in common, and by how much they differ: the numbers that stand in for acceptance that
// nobody measured. treeline_acceptance_curves fits them anew, prints their errors with each target left
// out, and fails where they are stale.
#pragma once

#include <string>

#include "sim/enum_names.h"

namespace treeline::sim {

/// Conditional rates fall along a chain as c_i = c_1·i^−fall. Source: the curves of drafters that were measured at several
/// draft lengths up to 8 (models/drafters, look-ups left out; 71 curves of 16 targets, the golden curves of InferenceX among
/// them), least mean error of accept lengths given the shortest and given a middle one, one vote a target. Fits by kind of
/// drafter do not predict left-out targets better.
inline constexpr double measured_fall = 0.10;

/// Of look-ups, whose rates do not fall: once found, the first draft is accepted with 0.62, further ones with 0.75
/// (drafters/lookup.cpp).
inline constexpr double fall_of_lookups = 0.0;

/// By how much the log-odds of c_i lie below and above that law: −steeper·ln i and +flatter·ln i hold 80 % of the targets
/// between them (same curves). Modules that were trained for one token and run again fall steeply (DeepSeek's and GLM-5.1's).
inline constexpr double steeper_curve = 1.35, flatter_curve = 0.2;

/// Where an acceptance comes from, which decides how far it may be off.
enum class AcceptanceOrigin {
    own_run,          ///< counted in the user's own run
    these_requests,   ///< measured on these very requests, by whomever
    same_kind,        ///< of this target and drafter, for the kinds of requests that the traffic is stated to be
    other_requests,   ///< of this target and drafter, on requests that need not be like the user's
    kind_of_drafter,  ///< the mean of what was published of drafters of its kind
    other_target,     ///< published for another target
    assumed,          ///< nobody measured it
};
constexpr auto names_in(AcceptanceOrigin) {
    using enum AcceptanceOrigin;
    return enum_names<AcceptanceOrigin>({{own_run, "own-run"},
                                         {these_requests, "these-requests"},
                                         {same_kind, "same-kind"},
                                         {other_requests, "other-requests"},
                                         {kind_of_drafter, "kind-of-drafter"},
                                         {other_target, "other-target"},
                                         {assumed, "assumed"}});
}

/// Half width of the 80 % interval of the rate of a draft, in log-odds: at 1, a rate of 0.75 may be 0.52 to 0.89. Measured on
/// models/drafters and ../shared/data/acceptance/by_dataset_2026-11-25.json, one vote a target:
///
/// - own_run: what counts leave (`spread_of_counts`), and this, which the same requests differ by at other batches
/// - these_requests: the same drafter and data set, measured again
/// - same_kind: a kind of requests predicted from the drafter's others and from how other drafters differ between these kinds,
///   or another data set of the same kind
/// - other_requests: one kind of requests, another data set or kind with the same drafter; `spread_over_kinds` of several
/// - kind_of_drafter: any drafter of the kind on another target, from their mean
/// - other_target: the same kind of drafter and of requests, another target
/// - assumed: any two drafters of the catalogue
double spread_of(AcceptanceOrigin origin);
/// The same as people read it: "other requests than those measured".
std::string text_of(AcceptanceOrigin origin);

/// What is known of how a drafter's rates differ between kinds of requests.
struct KindsOfRequests {
    int count = 1;          ///< measured, of which the acceptance is the mean
    double variance = 0.0;  ///< between them, in log-odds; of one kind nothing is known
};
/// Half width of the 80 % interval for requests of a kind that is not among them: that of a new draw of kinds that scatter as
/// this drafter's do. Their variance is taken as that of all drafters (`deviation_of_kinds`), which counts as much as
/// `kinds_of_the_rest` degrees of freedom, together with the drafter's own.
double spread_over_kinds(const KindsOfRequests& known);
inline constexpr double deviation_of_kinds = 0.55, kinds_of_the_rest = 4.0;

/// Between drafters of a kind, in log-odds of a rate, on the same kinds of requests; and what the mean of one kind of requests
/// leaves unknown of a drafter, when how other drafters differ between kinds is taken off. Drafters for models of one family
/// are no more alike than others of their kind.
inline constexpr double deviation_of_drafters = 0.42, deviation_of_a_measurement = 0.40;

/// The weight of what was measured of one drafter, against the mean of its kind, where the best of several is to be chosen:
/// without it the luckiest measurement would win.
double weight_of_measured(int kinds_of_requests);

/// Of a rate that was counted: `standard_error` of an accept length over `draft_tokens` drafts.
double spread_of_counts(double accept_length, double standard_error, double draft_tokens);

/// log-odds of a rate, kept off 0 and 1; and back.
double log_odds(double rate);
double rate_of_log_odds(double value);

}  // namespace treeline::sim
