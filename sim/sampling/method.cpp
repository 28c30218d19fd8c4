#include "sim/sampling/method.h"

#include <algorithm>

#include "sim/sampling/chain.h"
#include "sim/sampling/siblings.h"

namespace treeline::sim::sampling {
namespace {

std::optional<RoundLaw> over(const DraftTree& tree, std::optional<SiblingLaw> law) {
    if (!law) {
        return std::nullopt;
    }
    return tree_law(std::move(*law), tree);
}

}  // namespace

std::string meaning_of(Method method) {
    switch (method) {
        case Method::token_wise:
            return "drafts sampled; rejection sampling draft by draft";
        case Method::block:
            return "drafts sampled; block verification (arXiv 2403.10444)";
        case Method::multi_step:
            return "siblings sampled without replacement; multi-step speculative sampling";
        case Method::multi_step_replacement:
            return "siblings sampled with replacement; multi-step speculative sampling";
        case Method::naive:
            return "siblings sampled without replacement; the target's sample looked up among them";
        case Method::naive_best:
            return "siblings are the drafter's best tokens; the target's sample looked up among them";
        case Method::greedy:
            return "siblings are the drafter's best tokens; the target's best token looked up among them";
        case Method::independent_drafts:
            return "chains sampled independently; the longest that the target's sample follows";
    }
    return "";
}

bool is_chain(const DraftTree& tree) { return tree.nodes() == tree.depth(); }

int parallel_chains(const DraftTree& tree) {
    const std::vector<int> widths = tree.level_widths();
    const bool equal = std::all_of(widths.begin(), widths.end(), [&](int width) { return width == widths.front(); });
    bool straight = true;
    for (int token = 1; token < tree.verified_tokens(); ++token) {
        straight = straight && tree.children(token) <= 1;
    }
    return equal && straight && !widths.empty() ? widths.front() : 0;
}

std::string problem(Method method, const DraftTree& tree) {
    if ((method == Method::token_wise || method == Method::block) && !is_chain(tree)) {
        return std::string(name_of(method)) + " verification is for chains, and this tree branches";
    }
    if (method == Method::independent_drafts && parallel_chains(tree) == 0) {
        return "independent-drafts is for several chains of one length, and this is another tree";
    }
    return "";
}

std::vector<Method> methods_for(const DraftTree& tree) {
    std::vector<Method> methods;
    for (const Method method : all_methods) {
        const bool as_token_wise = method == Method::multi_step || method == Method::multi_step_replacement;
        const bool as_naive = method == Method::independent_drafts && parallel_chains(tree) == 1;
        if (problem(method, tree).empty() && !(is_chain(tree) && (as_token_wise || as_naive))) {
            methods.push_back(method);
        }
    }
    return methods;
}

Round round_of(Method method, const Models& models, const DraftTree& tree) {
    switch (method) {
        case Method::token_wise:
            return token_wise_round(models, tree.depth());
        case Method::block:
            return block_round(models, tree.depth());
        case Method::multi_step:
            return tree_round(tree, multi_step(models, SiblingDrafts::without_replacement));
        case Method::multi_step_replacement:
            return tree_round(tree, multi_step(models, SiblingDrafts::with_replacement));
        case Method::naive:
            return tree_round(tree, naive(models, SiblingDrafts::without_replacement));
        case Method::naive_best:
            return tree_round(tree, naive(models, SiblingDrafts::best));
        case Method::greedy:
            return tree_round(tree, greedy(models));
        case Method::independent_drafts:
            return independent_drafts_round(models, tree.depth(), parallel_chains(tree));
    }
    return {};
}

std::optional<RoundLaw> law_of(Method method, const Models& models, const DraftTree& tree) {
    const int children = tree.most_children();
    switch (method) {
        case Method::token_wise:
            return token_wise_law(models, tree.depth());
        case Method::block:
            return block_law(models, tree.depth());
        case Method::multi_step:
            return over(tree, multi_step_law(models, SiblingDrafts::without_replacement, children));
        case Method::multi_step_replacement:
            return over(tree, multi_step_law(models, SiblingDrafts::with_replacement, children));
        case Method::naive:
            return over(tree, naive_law(models, SiblingDrafts::without_replacement, children));
        case Method::naive_best:
            return over(tree, naive_law(models, SiblingDrafts::best, children));
        case Method::greedy:
            return tree_law(greedy_law(models, children), tree);
        case Method::independent_drafts:
            return independent_drafts_law(models, tree.depth(), parallel_chains(tree));
    }
    return std::nullopt;
}

}  // namespace treeline::sim::sampling
