#include "sim/drafters/drafter.h"

namespace treeline {

DrafterPlan plan(const NgramDrafter& drafter, const Model&, const Precision& target_precision) {
    DrafterPlan result;
    result.kind = "ngram";
    result.precision = target_precision;
    result.has_cache = false;
    result.needs_prefill = false;
    result.catch_up = CatchUp::none;
    result.host_per_round_and_sequence = drafter.lookup_per_sequence;
    return result;
}

}  // namespace treeline
