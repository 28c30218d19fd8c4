#include "sim/drafters/drafter.h"

namespace treeline::sim {
namespace {

DrafterPlan without_model(const char* kind, const Precision& precision) {
    DrafterPlan result;
    result.kind = kind;
    result.precision = precision;
    result.has_cache = false;
    result.needs_prefill = false;
    result.catch_up = CatchUp::none;
    return result;
}

}  // namespace

DrafterPlan plan(const NgramDrafter& drafter, const Model&, const Precision& target_precision) {
    DrafterPlan result = without_model("ngram", target_precision);
    result.host_per_round_and_sequence = drafter.lookup_per_sequence;
    return result;
}

DrafterPlan plan(const NoDrafter&, const Model&, const Precision& target_precision) {
    return without_model("none", target_precision);
}

}  // namespace treeline::sim
