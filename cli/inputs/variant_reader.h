// From lists of targets, platforms, drafters and rollback policies to every combination of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/inputs/setup_reader.h"
#include "sweeps/design_space.h"

namespace treeline {

struct VariantLists {
    std::vector<TargetChoice> targets;
    std::vector<Platform> platforms;
    std::vector<DrafterChoice> drafters;
    std::vector<Rollback> rollbacks;  ///< empty: all that the target can use
    Decoding decoding = Decoding::greedy;
};

/// Reads the list of policies under `key`: "auto" (also without the key) is the empty list.
std::vector<Rollback> read_rollbacks(json::Reader& at, std::string_view key);

/// Targets outermost, then platforms, drafters and rollback policies. Accelerators appear with one precision of each target.
std::vector<Variant> all_variants(const VariantLists& lists);

/// Problems of targets and platforms that no choice of drafter would mend (no such link, no peak for the format); those of
/// drafters exclude only their own variants.
std::vector<std::string> platform_problems(const VariantLists& lists);

/// "llama-3-8b on 8x h100-sxm, replay", and target, precision, stack and mode where `among` holds several.
std::string text_of(const Variant& variant, const std::vector<Variant>& among);

/// Notes drafters, targets or platforms that carry the same label twice: results could not tell them apart.
void check_labels(json::Reader& at, std::string_view key, const std::vector<std::string>& labels);

}  // namespace treeline
