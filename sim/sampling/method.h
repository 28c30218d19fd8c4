// The ways of drafting and verifying with which the synthetic models can be decoded.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/enum_names.h"
#include "sim/sampling/round_law.h"
#include "sim/trees/draft_tree.h"

namespace treeline::sim::sampling {

/// All are lossless: the output is distributed as the target's (greedy: as the target's at temperature 0).
enum class Method {
    token_wise,              ///< chain, rejection sampling draft by draft
    block,                   ///< chain, block verification
    multi_step,              ///< tree, siblings sampled without replacement
    multi_step_replacement,  ///< tree, siblings sampled with replacement
    naive,                   ///< tree, siblings sampled without replacement; the target's sample is looked up among them
    naive_best,              ///< the same with the drafter's most likely tokens as siblings (engines that draft greedily)
    greedy,                  ///< the same; the target's most likely token is looked up
    independent_drafts       ///< several chains sampled independently, the longest that agrees with the target's sample kept
};
constexpr auto names_in(Method) {
    using enum Method;
    return enum_names<Method>({{token_wise, "token-wise"},
                               {block, "block"},
                               {multi_step, "multi-step"},
                               {multi_step_replacement, "multi-step-replacement"},
                               {naive, "naive"},
                               {naive_best, "naive-best"},
                               {greedy, "greedy"},
                               {independent_drafts, "independent-drafts"}});
}

inline constexpr auto all_methods = values_of<Method>();

/// One line for people.
std::string meaning_of(Method method);

/// A tree that is a chain has no siblings at all; the root alone counts as one.
bool is_chain(const DraftTree& tree);
/// Number of equally long chains that branch at the root only; 0 for other trees.
int parallel_chains(const DraftTree& tree);

/// Why this method cannot verify this tree, as a sentence; empty if it can.
std::string problem(Method method, const DraftTree& tree);
/// Those that can verify this tree and differ on it (on a chain, multi-step sampling is token-wise verification).
std::vector<Method> methods_for(const DraftTree& tree);

/// Both keep a reference to `models`, which must outlive them. Precondition: no problem(). The law is missing where an exact
/// expectation would take more than a few million steps.
Round round_of(Method method, const Models& models, const DraftTree& tree);
std::optional<RoundLaw> law_of(Method method, const Models& models, const DraftTree& tree);

}  // namespace treeline::sim::sampling
