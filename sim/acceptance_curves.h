// Where acceptance comes from that nobody measured, and by how much it may be off. The numbers that measured curves have in
// common are in sim/constants.h; treeline_acceptance_curves fits them anew, prints their errors with each target left out, and
// fails where they are stale.
#pragma once

#include <string>

#include "sim/constants.h"
#include "sim/enum_names.h"

namespace treeline::sim {

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

/// The weight of what was measured of one drafter, against the mean of its kind, where the best of several is to be chosen:
/// without it the luckiest measurement would win.
double weight_of_measured(int kinds_of_requests);

/// Of a rate that was counted: `standard_error` of an accept length over `draft_tokens` drafts.
double spread_of_counts(double accept_length, double standard_error, double draft_tokens);

/// log-odds of a rate, kept off 0 and 1; and back.
double log_odds(double rate);
double rate_of_log_odds(double value);

}  // namespace treeline::sim
