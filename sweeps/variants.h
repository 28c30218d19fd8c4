// From lists of targets, platforms, drafters and rollback policies to every combination of them.
#pragma once

#include <string>
#include <vector>

#include "sweeps/choices.h"
#include "sweeps/design_space.h"

namespace treeline::sweeps {

struct VariantLists {
    std::vector<TargetChoice> targets;
    std::vector<sim::Platform> platforms;
    std::vector<DrafterChoice> drafters;
    std::vector<sim::Rollback> rollbacks;  ///< empty: all that the target can use
    sim::Decoding decoding = sim::Decoding::greedy;
};

/// Targets outermost, then platforms, drafters and rollback policies. Accelerators appear with one precision of each target.
std::vector<Variant> all_variants(const VariantLists& lists);

/// Plain decoding of each target on each platform, for inputs without a drafter.
std::vector<Variant> plain_variants(const VariantLists& lists);

/// Problems of targets, platforms and requests that no choice of drafter would mend (no such link, no peak for the format, a
/// shared prefix that is longer than the prompts), each once; those of drafters exclude only their own variants.
std::vector<std::string> plain_problems(const std::vector<Variant>& variants);

/// "llama-3-8b on 8x h100-sxm, replay", and target, precision, stack and mode where `among` holds several.
std::string text_of(const Variant& variant, const std::vector<Variant>& among);

}  // namespace treeline::sweeps
