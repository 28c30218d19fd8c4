#include "sim/drafters/draft_steps.h"

#include <algorithm>

namespace treeline::sim {
namespace {

std::vector<double> internal_nodes(const DraftTree& tree) {
    std::vector<double> expanded;
    for (int level = 1; level < tree.depth(); ++level) {
        const auto [begin, end] = tree.level_range(level);
        double count = 0.0;
        for (int token = begin; token < end; ++token) {
            count += tree.children(token) > 0 ? 1.0 : 0.0;
        }
        expanded.push_back(count);
    }
    return expanded;
}

double first_tokens(CatchUp catch_up, const AcceptedTokens& accepted) {
    switch (catch_up) {
        case CatchUp::last_draft:
            return 1.0 + accepted.ends_at_leaf;
        case CatchUp::all_accepted:
            return accepted.length;
        case CatchUp::apart:
        case CatchUp::none:
            break;
    }
    return 1.0;
}

DraftSteps chain_steps(const DrafterPlan& drafter, double draft_tokens, double first, bool counts_hoi) {
    DraftSteps steps;
    const double growth = drafter.has_cache && !counts_hoi ? 0.5 * draft_tokens : 0.0;
    steps.passes.push_back({1.0, first, 1.0, 0.0, 1.0});
    if (draft_tokens > 1.0) {
        steps.passes.push_back({1.0, 1.0, 1.0, growth, draft_tokens - 1.0});
    }
    steps.kept_states = draft_tokens + 1.0;
    return steps;
}

/// The middle model of a cascade verifies one inner draft after the other.
DraftSteps cascade_steps(const InnerDraft& inner, double draft_tokens, double first) {
    DraftSteps steps;
    const double rounds = std::max(1.0, draft_tokens / inner.length);
    steps.passes.push_back({1.0, first + inner.tokens, inner.tokens + 1.0, 0.0, 1.0});
    if (rounds > 1.0) {
        steps.passes.push_back({1.0, inner.tokens + 1.0, inner.tokens + 1.0, 0.5 * draft_tokens, rounds - 1.0});
    }
    steps.inner_runs = inner.model ? rounds * inner.tokens : 0.0;
    steps.kept_states = draft_tokens + 1.0;
    return steps;
}

/// One row per node, each from a state of its own; states are duplicated where a level has more nodes than the one before.
DraftSteps batch_generation(const std::vector<double>& expanded, double first) {
    DraftSteps steps;
    steps.passes.push_back({1.0, first, 1.0, 0.0, 1.0});
    steps.kept_states = 2.0;
    double rows_before = 1.0;
    for (std::size_t i = 0; i < expanded.size(); ++i) {
        steps.passes.push_back({expanded[i], 1.0, 1.0, static_cast<double>(i) + 1.0, 1.0});
        steps.copied_states += expanded[i] > rows_before ? expanded[i] : 0.0;
        steps.kept_states += expanded[i];
        rows_before = expanded[i];
    }
    return steps;
}

DraftSteps tree_attention(const std::vector<double>& expanded, double first) {
    DraftSteps steps;
    steps.tree_attention = true;
    steps.passes.push_back({1.0, first, 1.0, 0.0, 1.0});
    double before = 1.0;
    for (const double nodes : expanded) {
        steps.passes.push_back({1.0, nodes, nodes, before, 1.0});
        before += nodes;
    }
    return steps;
}

/// After a look-up. The first pass reads what the drafter's own cache lacks, too, unless another pass does.
void draft_where_needed(const DrafterPlan& drafter, DraftSteps& steps) {
    const bool first_keeps_up = drafter.needs_prefill && steps.context_tokens == 0.0;
    const std::size_t kept = first_keeps_up ? 1 : 0;
    if (drafter.drafting_share <= 0.0) {
        steps.passes.resize(kept);
    }
    for (std::size_t i = kept; i < steps.passes.size(); ++i) {
        steps.passes[i].share = drafter.drafting_share;
    }
}

}  // namespace

std::vector<double> expanded_nodes(const TreeShape& shape, const DraftTree& tree) {
    const auto constant = [&](int levels, int nodes) {
        return std::vector<double>(static_cast<std::size_t>(std::max(0, levels - 1)), static_cast<double>(nodes));
    };
    if (const auto* sglang = std::get_if<SglangShape>(&shape)) {
        return constant(sglang->steps, sglang->top_k);
    }
    if (const auto* tensor_rt = std::get_if<TensorRtShape>(&shape)) {
        return constant(tensor_rt->max_draft_len, tensor_rt->max_top_k);
    }
    if (const auto* beam = std::get_if<BeamShape>(&shape)) {
        return constant(beam->steps, beam->beams);
    }
    return internal_nodes(tree);
}

DraftSteps draft_steps(const DrafterPlan& drafter, const TreeShape& shape, const DraftTree& tree,
                       const AcceptedTokens& accepted, bool counts_hoi) {
    if (!drafter.model || tree.nodes() == 0) {
        return {};
    }
    const double first = counts_hoi ? 1.0 : first_tokens(drafter.catch_up, accepted);
    const bool chain = tree.nodes() == tree.depth();
    if (drafter.parallel && chain) {
        DraftSteps steps;
        const double drafts = tree.depth();
        steps.passes.push_back({1.0, first + drafts - 1.0 + drafter.anchor_rows, drafts, 0.0, 1.0});
        steps.kept_states = 2.0;
        steps.markov_runs = drafter.markov.model ? std::max(0.0, drafts - drafter.markov.first_free) : 0.0;
        steps.context_tokens = drafter.context_model ? accepted.length : 0.0;
        draft_where_needed(drafter, steps);
        return steps;
    }
    if (drafter.inner.tokens > 0.0) {
        return cascade_steps(drafter.inner, tree.depth(), first);
    }
    DraftSteps steps;
    if (chain || !drafter.has_cache) {
        steps = chain_steps(drafter, tree.depth(), first, counts_hoi);
    } else {
        const std::vector<double> expanded = expanded_nodes(shape, tree);
        steps = has_recurrent_state(*drafter.model) ? batch_generation(expanded, first) : tree_attention(expanded, first);
    }
    steps.context_tokens = drafter.catch_up == CatchUp::apart ? tree.nodes() + 1.0 : 0.0;
    draft_where_needed(drafter, steps);
    return steps;
}

}  // namespace treeline::sim
