#include "sim/trees/tree_shape.h"

#include <algorithm>
#include <cstdint>

#include "sim/trees/frontier_tree.h"
#include "sim/trees/optimal_tree.h"

namespace treeline::sim {
namespace {

template <class... Functions>
struct Overloaded : Functions... {
    using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

using Problems = std::vector<std::string>;

/// Levels a frontier or beam may grow: bounds the candidates, top_k² a level.
constexpr int most_levels = 256;
constexpr int most_top_k = 256;

/// "`what` must lie between low and high, not value", or nothing.
void require_range(Problems& problems, const char* what, long long value, long long low, long long high) {
    if (value < low || value > high) {
        problems.push_back(std::string(what) + " must lie between " + std::to_string(low) + " and " + std::to_string(high) +
                           ", not " + std::to_string(value));
    }
}

void require_size(Problems& problems, long long nodes) {
    if (nodes > most_tree_nodes) {
        problems.push_back("the tree has " + (nodes == INT64_MAX ? "more" : std::to_string(nodes) + " nodes, more") + " than " +
                           std::to_string(most_tree_nodes) + " nodes");
    }
}

Problems widths_problems(const WidthsShape& shape) {
    Problems problems;
    long long nodes = 0;
    for (std::size_t i = 0; i < shape.widths.size(); ++i) {
        const std::string what = "the width of level " + std::to_string(i + 1);
        require_range(problems, what.c_str(), shape.widths[i], 1, most_tree_nodes);
        nodes += shape.widths[i];
    }
    if (problems.empty()) {
        require_size(problems, nodes);
    }
    return problems;
}

Problems branching_problems(const BranchingShape& shape) {
    Problems problems;
    long long nodes = 0, width = 1;
    for (std::size_t i = 0; i < shape.children.size(); ++i) {
        const std::string what = "the number of children on level " + std::to_string(i);
        require_range(problems, what.c_str(), shape.children[i], 1, most_tree_nodes);
        width *= std::clamp(shape.children[i], 1, most_tree_nodes);
        nodes += width;
        if (nodes > most_tree_nodes) {
            break;
        }
    }
    if (problems.empty() && nodes > most_tree_nodes) {
        problems.push_back("the tree has more than " + std::to_string(most_tree_nodes) + " nodes");
    }
    return problems;
}

Problems table_problems(const ChildTableShape& shape) {
    Problems problems;
    long long width = 1, nodes = 0;
    for (std::size_t level = 0; level < shape.children.size(); ++level) {
        const std::vector<int>& counts = shape.children[level];
        const std::string of_level = "level " + std::to_string(level);
        long long below = 0;
        for (std::size_t i = 0; i < counts.size(); ++i) {
            const std::string what = "the number of children of node " + std::to_string(i + 1) + " on " + of_level;
            require_range(problems, what.c_str(), counts[i], 0, most_tree_nodes);
            if (counts[i] > 0 && static_cast<long long>(i) >= width) {
                problems.push_back("children are given to node " + std::to_string(i + 1) + " of " + of_level +
                                   ", which has only " + std::to_string(width));
            }
            below += counts[i];
        }
        width = below;
        nodes += below;
    }
    if (problems.empty()) {
        require_size(problems, nodes);
    }
    return problems;
}

Problems frontier_problems(const char* steps_name, int steps, const char* top_k_name, int top_k) {
    Problems problems;
    require_range(problems, steps_name, steps, 1, most_levels);
    require_range(problems, top_k_name, top_k, 1, most_top_k);
    return problems;
}

Problems sglang_problems(const SglangShape& shape) {
    Problems problems = frontier_problems("SGLang's steps", shape.steps, "SGLang's top-k", shape.top_k);
    require_range(problems, "SGLang's draft tokens (the root counted)", shape.draft_tokens, 2, most_tree_nodes + 1);
    if (!problems.empty()) {
        return problems;
    }
    const long long pool = frontier_candidates(shape.steps, shape.top_k);
    if (shape.top_k == 1 && shape.draft_tokens != shape.steps + 1) {
        problems.push_back("SGLang with top-k 1 drafts a chain of steps + 1 = " + std::to_string(shape.steps + 1) +
                           " tokens (the root counted), not " + std::to_string(shape.draft_tokens));
    } else if (pool < shape.draft_tokens - 1) {
        problems.push_back("SGLang with " + std::to_string(shape.steps) + " steps of top-k " + std::to_string(shape.top_k) +
                           " has a pool of top-k + (steps - 1) * top-k^2 = " + std::to_string(pool) +
                           " candidates, fewer than " + std::to_string(shape.draft_tokens - 1) +
                           " draft tokens (root not counted)");
    }
    return problems;
}

Problems tensorrt_problems(const TensorRtShape& shape) {
    Problems problems =
        frontier_problems("TensorRT-LLM's max_draft_len", shape.max_draft_len, "TensorRT-LLM's max_topK", shape.max_top_k);
    require_range(problems, "TensorRT-LLM's max_total_draft_tokens", shape.max_total_draft_tokens, 1, most_tree_nodes);
    const long long most = 1LL * shape.max_draft_len * shape.max_top_k;
    if (problems.empty() && (shape.max_total_draft_tokens < shape.max_draft_len || shape.max_total_draft_tokens > most)) {
        problems.push_back("TensorRT-LLM's max_total_draft_tokens must lie between max_draft_len = " +
                           std::to_string(shape.max_draft_len) + " and max_topK * max_draft_len = " + std::to_string(most) +
                           ", not " + std::to_string(shape.max_total_draft_tokens));
    }
    return problems;
}

Problems product_problems(const char* first_name, int first, const char* second_name, int second) {
    Problems problems;
    require_range(problems, first_name, first, 1, most_tree_nodes);
    require_range(problems, second_name, second, 1, most_tree_nodes);
    if (problems.empty()) {
        require_size(problems, 1LL * first * second);
    }
    return problems;
}

DraftTree chain_of(int draft_tokens) {
    return DraftTree::from_child_counts(std::vector<int>(static_cast<std::size_t>(draft_tokens), 1));
}

DraftTree tree_of_widths(const std::vector<int>& widths) {
    std::vector<int> counts;
    int parents = 1;
    for (const int width : widths) {
        for (int parent = 0; parent < parents; ++parent) {
            counts.push_back(width / parents + (parent < width % parents ? 1 : 0));
        }
        parents = width;
    }
    return DraftTree::from_child_counts(std::move(counts));
}

DraftTree tree_of_branching(const std::vector<int>& children) {
    std::vector<int> counts;
    std::size_t parents = 1;
    for (const int each : children) {
        counts.insert(counts.end(), parents, each);
        parents *= static_cast<std::size_t>(each);
    }
    return DraftTree::from_child_counts(std::move(counts));
}

DraftTree tree_of_table(const std::vector<std::vector<int>>& table) {
    std::vector<int> counts;
    std::size_t width = 1;
    for (const std::vector<int>& level : table) {
        std::size_t below = 0;
        for (std::size_t i = 0; i < width; ++i) {
            counts.push_back(i < level.size() ? level[i] : 0);
            below += static_cast<std::size_t>(counts.back());
        }
        width = below;
    }
    return DraftTree::from_child_counts(std::move(counts));
}

DraftTree tree_of_sequences(const SequencesShape& shape) {
    return tree_of_widths(std::vector<int>(static_cast<std::size_t>(shape.draft_tokens), shape.drafts));
}

}  // namespace

std::vector<std::string> problems(const TreeShape& shape) {
    return std::visit(
        Overloaded{
            [](const ChainShape& s) { return product_problems("the chain's draft tokens", s.draft_tokens, "", 1); },
            [](const WidthsShape& s) { return widths_problems(s); },
            [](const BranchingShape& s) { return branching_problems(s); },
            [](const ChildTableShape& s) { return table_problems(s); },
            [](const ParentsShape& s) { return parent_problems(s.parents); },
            [](const BinaryShape& s) {
                Problems found;
                require_range(found, "the levels of a binary tree (the root counted)", s.levels, 1, 12);
                return found;
            },
            [](const SequencesShape& s) { return product_problems("drafts", s.drafts, "draft tokens", s.draft_tokens); },
            [](const BeamShape& s) {
                Problems found = frontier_problems("steps", s.steps, "beams", s.beams);
                if (found.empty()) {
                    require_size(found, 1LL * s.beams * s.steps);
                }
                return found;
            },
            [](const SglangShape& s) { return sglang_problems(s); },
            [](const VllmShape& s) {
                return product_problems("vLLM's num_speculative_tokens", s.num_speculative_tokens, "", 1);
            },
            [](const TensorRtShape& s) { return tensorrt_problems(s); },
            [](const OptimalShape& s) {
                return problems(TreeBudget{s.nodes, s.depth, s.children});
            },
        },
        shape);
}

bool depends_on_acceptance(const TreeShape& shape) {
    return std::holds_alternative<BeamShape>(shape) || std::holds_alternative<SglangShape>(shape) ||
           std::holds_alternative<TensorRtShape>(shape) || std::holds_alternative<OptimalShape>(shape);
}

bool lets_branch(const TreeShape& shape) {
    const auto* sglang = std::get_if<SglangShape>(&shape);
    const auto* tensor_rt = std::get_if<TensorRtShape>(&shape);
    const auto* beams = std::get_if<BeamShape>(&shape);
    return (sglang != nullptr && sglang->top_k > 1) || (tensor_rt != nullptr && tensor_rt->max_top_k > 1) ||
           (beams != nullptr && beams->beams > 1);
}

DraftTree build_tree(const TreeShape& shape, const RankAcceptance& acceptance) {
    return std::visit(
        Overloaded{
            [](const ChainShape& s) { return chain_of(s.draft_tokens); },
            [](const WidthsShape& s) { return tree_of_widths(s.widths); },
            [](const BranchingShape& s) { return tree_of_branching(s.children); },
            [](const ChildTableShape& s) { return tree_of_table(s.children); },
            [](const ParentsShape& s) { return DraftTree::from_parents(s.parents); },
            [](const BinaryShape& s) { return tree_of_branching(std::vector<int>(static_cast<std::size_t>(s.levels) - 1, 2)); },
            [](const SequencesShape& s) { return tree_of_sequences(s); },
            [&](const BeamShape& s) { return grow_beam_tree(s.beams, s.steps, acceptance); },
            [&](const SglangShape& s) { return grow_frontier_tree(s.steps, s.top_k, s.draft_tokens - 1, acceptance); },
            [](const VllmShape& s) { return chain_of(s.num_speculative_tokens); },
            [&](const TensorRtShape& s) {
                return grow_frontier_tree(s.max_draft_len, s.max_top_k, s.max_total_draft_tokens, acceptance);
            },
            [&](const OptimalShape& s) {
                return OptimalTrees(acceptance, {s.nodes, s.depth, s.children}).tree(s.nodes, s.depth);
            },
        },
        shape);
}

}  // namespace treeline::sim
