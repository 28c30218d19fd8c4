#include "sweeps/recommend_answer.h"

namespace treeline::sweeps {

Answer answer(RecommendInput input, unsigned threads) {
    Answer result;
    result.result = recommend(input.workload, threads);
    if (const auto& found = result.result.recommendation; found && found->speculate) {
        const Candidate& best = found->candidates.front();
        result.interval = gain_interval(found->variants[best.variant].setup, best.speculation, input.workload.traffic,
                                        input.workload.objective);
    }
    result.input = std::move(input);
    return result;
}

const DrafterChoice* drafter_of(const Answer& answer, const Variant& variant) {
    return variant.origin.drafter ? &answer.input.drafters[*variant.origin.drafter] : nullptr;
}

const Variant& recommended_variant(const Answer& answer) {
    const Recommendation& found = *answer.result.recommendation;
    return found.variants[found.candidates.front().variant];
}

}  // namespace treeline::sweeps
