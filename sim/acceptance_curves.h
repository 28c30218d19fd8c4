// What measured curves of acceptance have in common, and by how much they differ: the numbers that stand in for acceptance that
// nobody measured. build/tests/validation/treeline_acceptance_curves fits them anew, prints their errors with each target left
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
    own_run,         ///< counted in the user's own run
    these_requests,  ///< measured on these very requests, by whomever
    other_requests,  ///< of this target and drafter, on a data set that is not the user's traffic
    other_target,    ///< published for another target
    assumed,         ///< nobody measured it
};
constexpr auto names_in(AcceptanceOrigin) {
    using enum AcceptanceOrigin;
    return enum_names<AcceptanceOrigin>({{own_run, "own-run"},
                                         {these_requests, "these-requests"},
                                         {other_requests, "other-requests"},
                                         {other_target, "other-target"},
                                         {assumed, "assumed"}});
}

/// Half width of the 80 % interval of the rate of a draft, in log-odds: at 1, a rate of 0.75 may be 0.52 to 0.89. Measured on
/// models/drafters and ../shared/data/acceptance/by_dataset_2026-11-25.json, one vote a target. It hardly matters who drafts
/// for whom, only whether the requests are the same:
///
/// - own_run: what counts leave (`spread_of_counts`), and this, which the same requests differ by at other batches
/// - these_requests: the same drafter and data set, measured again
/// - other_requests: the same drafter, another data set or category
/// - other_target: the same kind and category, another target
/// - assumed: any two drafters of the catalogue
double spread_of(AcceptanceOrigin origin);
/// The same as people read it: "other requests than those measured".
std::string text_of(AcceptanceOrigin origin);

/// Of a rate that was counted: `standard_error` of an accept length over `draft_tokens` drafts.
double spread_of_counts(double accept_length, double standard_error, double draft_tokens);

/// log-odds of a rate, kept off 0 and 1; and back.
double log_odds(double rate);
double rate_of_log_odds(double value);

}  // namespace treeline::sim
