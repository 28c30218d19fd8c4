// The answer to a workload: the recommendation and how far it can be trusted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sweeps/choices.h"
#include "sweeps/recommend.h"
#include "sweeps/trust.h"
#include "sweeps/uncertainty.h"
#include "sweeps/workload.h"
#include "text/provenance.h"

namespace treeline::sweeps {

/// A workload with what answers say about it.
struct RecommendInput {
    std::string title, source;
    TargetChoice target;
    std::vector<DrafterChoice> drafters;
    Workload workload;
    std::vector<text::Provenance> provenance;
    std::vector<std::string> notes;  ///< what was chosen because the input leaves it open, as sentences
    std::size_t doubts = 0;          ///< the first so many notes doubt the input, and are shown however little room there is
    MeasuredErrors errors;           ///< empty: nothing is known of what predictions missed
    bool counts_devices = false;     ///< it says how many devices there are in all, and every cut of them is tried
};

struct Answer {
    RecommendInput input;  ///< its workload as answered: without loads that nobody serves
    RecommendationResult result;
    std::optional<GainInterval> interval;      ///< of the recommended configuration, when it speculates
    std::optional<Trust> trust;                ///< likewise
    std::optional<MeasuredTime> plain_time;    ///< of plain decoding, where that is recommended
    std::optional<RejectedDrafting> rejected;  ///< the best that drafts, where plain decoding is recommended
};

Answer answer(RecommendInput input, unsigned threads);

/// The drafter of a variant of the answer; null for plain decoding.
const DrafterChoice* drafter_of(const Answer& answer, const Variant& variant);

/// The recommended variant; only with a recommendation.
const Variant& recommended_variant(const Answer& answer);

/// Why no runs can be planned for this answer, as the end of a sentence; empty if they can.
std::string why_not_planned(const Answer& answer);

}  // namespace treeline::sweeps
