// What the parts of a recommendation share: variants ready to be evaluated and judged (judged_variants.cpp), the answer for a
// traffic that somebody serves (recommend.cpp), and that for one which nobody serves whole (unserved_loads.cpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sweeps/recommend.h"

namespace treeline::sweeps {

/// A variant ready to be evaluated, or the reason why it cannot be.
struct Prepared {
    sim::CompiledRound round;
    std::vector<int> speculations;  ///< those that it can run
    Seconds time_to_first_token;    ///< of a prompt alone
    Seconds plain_first_token;      ///< the same without a drafter; only where the traffic is stated in batches
    bool loaded = false;            ///< the traffic is not stated in batches
    std::string problem;
};

/// Plain decoding on the platform of `variant`: nothing drafted, nothing kept for rollback.
Variant plain_variant(const Variant& variant);

Prepared prepare(const Variant& variant, const Workload& workload);

/// The accept length at which a candidate's objective would be `ratio` times what it is: what it decodes takes the more rounds
/// the fewer tokens a round yields, and prompts are read all the same. Unlimited where prompts alone take longer.
double accept_length_at(const Candidate& candidate, double ratio, Objective objective);

/// TTFT of an outcome: among the others under a load; where batches are stated, of a prompt read alone.
Seconds first_token_of(const Prepared& prepared, const Outcome& outcome);
/// Its ratio to that of the plain decoding that drafts are compared with.
double first_token_growth_of(const Prepared& prepared, const Outcome& outcome, const Limits& limits);

/// The first limit that an outcome breaks: those of broken_limit(), and TTFT and its growth.
std::optional<Limit> limit_of(const Outcome& outcome, const Prepared& prepared, const Limits& limits);

/// planned_outcome() on the server of a variant: of one that cannot change what it drafts, the same at every point.
PlannedOutcome planned_for(const Variant& variant, const sim::CompiledRound& round, int speculation, const Traffic& traffic,
                           Objective objective, const Limits& limits);

/// The share of a candidate's objective that is decoding, and not prompts.
double decode_share_of(const Candidate& candidate, Objective objective);

/// Of a recommendation that drafts, with its runners-up and what each of its variants was prepared to.
std::optional<FlipLength> flip_length_of(const Recommendation& found, const std::vector<Prepared>& prepared,
                                         const Workload& workload);

/// An outcome over the traffic as a candidate.
Candidate candidate_of(const Prepared& prepared, std::size_t variant, const DraftPlan& plan, const Outcome& outcome,
                       Objective objective);

struct VariantOutcome {
    std::vector<Candidate> candidates;
    std::string reason;                 ///< for its best candidate, if none meets the limits
    std::optional<Limit> broken;        ///< by that one
    double objective = sim::unlimited;  ///< of that one; lower is better
    /// Of its configurations, the one that misses the limits on times and memory least: by what factor, and a sentence's end.
    double nearest_miss = sim::unlimited;
    std::string nearest_reason;
    std::optional<Limit> nearest_limit;
};

/// All variants, ready and judged.
struct Judged {
    std::vector<Variant> variants;
    std::vector<Prepared> prepared;
    std::vector<VariantOutcome> outcomes;
    /// Plain decoding on the platforms of all variants, within the limits or not, since it is what others are compared with;
    /// nothing at variants that draft.
    std::vector<std::optional<Candidate>> plain;
    /// Of plain decoding on the same platforms, at each point of the traffic and last in the mean: share of the requests in
    /// flight that wait for a place. Empty at variants that draft.
    std::vector<std::vector<double>> plain_waiting;
    std::vector<OwnPlain> own_plain;  ///< by variant
};

/// Plain decoding of judged variants as they are compared with it. Where the largest rates are asked for, each at its own, or,
/// where it serves none within the limits, at that of the best candidate.
std::vector<std::optional<Candidate>> plain_candidates(const Judged& all, const Workload& workload);

/// The plain decoding that a variant is compared with: the best on its devices and stack, whatever their cut, that keeps the
/// limits; where none does, the best of all. Null where plain decoding cannot be priced there.
const Candidate* plain_beside(const Judged& all, std::size_t variant);

/// What outcomes of a variant are compared with; null where it cannot be priced.
struct ComparedPlain {
    const Candidate* beside = nullptr;  ///< plain_beside()
    const Candidate* on_cut = nullptr;  ///< plain decoding on the variant's own cut of the devices
};
ComparedPlain compared_plain(const Judged& all, std::size_t variant);

/// An element of Judged::plain_waiting.
std::vector<double> plain_waiting_of(const Prepared& prepared, const Candidate& plain, const Traffic& traffic);
/// What of OwnPlain is about waiting.
OwnPlain waiting_beside(const Judged& all, std::size_t variant, const Workload& workload);

/// Plain decoding on a variant's own cut beside the one that it is compared with.
OwnPlain own_plain_of(const Judged& all, std::size_t variant, const Workload& workload);

/// Sets an outcome's gain, which is over plain decoding on its own cut of the devices, to that over plain_beside(). Where
/// neither serves the load, gains of capacity stay.
void compare_with_plain(const ComparedPlain& plain, Outcome& outcome);

/// The variant that misses the limits on times and memory least; nothing where none that can be run misses by these alone.
std::optional<std::size_t> nearest_miss_of(const Judged& all);

/// The workload's variants, and plain decoding on each of their platforms.
Judged judged(const Workload& workload, unsigned threads);

/// The answer for a traffic that some configuration serves whole; else why each does not.
RecommendationResult answer_for(const Workload& workload, unsigned threads);

/// The answer for the loads that somebody serves, where nobody serves all.
std::optional<RecommendationResult> without_unserved(const Workload& workload, unsigned threads);

/// Arrivals beyond what anybody serves, as clients that keep every server full.
std::optional<RecommendationResult> saturated(const Workload& workload, unsigned threads);

}  // namespace treeline::sweeps
