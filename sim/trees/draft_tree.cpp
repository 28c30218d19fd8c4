#include "sim/trees/draft_tree.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace treeline::sim {

std::span<const std::uint64_t> AncestorMask::row(int token) const {
    const auto words = static_cast<std::size_t>(words_per_row);
    return std::span(bits).subspan(static_cast<std::size_t>(token) * words, words);
}

bool AncestorMask::at(int token, int ancestor) const {
    return (row(token)[static_cast<std::size_t>(ancestor / 64)] >> (ancestor % 64) & 1u) != 0;
}

DraftTree::DraftTree(std::vector<int> child_counts) : child_counts_(std::move(child_counts)) {
    const std::size_t tokens = child_counts_.size();
    first_child_.resize(tokens);
    parents_.assign(tokens, -1);
    ranks_.assign(tokens, 0);
    levels_.assign(tokens, 0);
    int next = 1;
    for (std::size_t token = 0; token < tokens; ++token) {
        first_child_[token] = next;
        for (int rank = 1; rank <= child_counts_[token]; ++rank, ++next) {
            parents_[index(next)] = static_cast<int>(token);
            ranks_[index(next)] = rank;
            levels_[index(next)] = levels_[token] + 1;
        }
        if (token == 0 || levels_[token] != levels_[token - 1]) {
            level_begin_.push_back(static_cast<int>(token));
        }
    }
    level_begin_.push_back(static_cast<int>(tokens));
}

DraftTree DraftTree::from_child_counts(std::vector<int> child_counts) {
    long long tokens = 1;
    for (std::size_t token = 0; token < child_counts.size(); ++token) {
        if (static_cast<long long>(token) >= tokens) {
            throw std::invalid_argument("child count " + std::to_string(token + 1) + " belongs to no token of the tree");
        }
        if (child_counts[token] < 0) {
            throw std::invalid_argument("token " + std::to_string(token) + " cannot have a negative number of children");
        }
        tokens += child_counts[token];
        if (tokens > most_tree_nodes + 1) {
            throw std::invalid_argument("the tree has more than " + std::to_string(most_tree_nodes) + " nodes");
        }
    }
    child_counts.resize(static_cast<std::size_t>(tokens), 0);
    return DraftTree(std::move(child_counts));
}

DraftTree DraftTree::from_parents(const std::vector<int>& parents) {
    if (const std::vector<std::string> problems = parent_problems(parents); !problems.empty()) {
        throw std::invalid_argument(problems.front());
    }
    std::vector<std::vector<int>> children(parents.size() + 1);
    for (std::size_t i = 0; i < parents.size(); ++i) {
        children[index(parents[i])].push_back(static_cast<int>(i) + 1);
    }
    std::vector<int> order = {0};
    std::vector<int> counts;
    for (std::size_t at = 0; at < order.size(); ++at) {
        const std::vector<int>& below = children[index(order[at])];
        counts.push_back(static_cast<int>(below.size()));
        order.insert(order.end(), below.begin(), below.end());
    }
    return DraftTree(std::move(counts));
}

int DraftTree::leaves() const { return static_cast<int>(std::count(child_counts_.begin(), child_counts_.end(), 0)); }

int DraftTree::most_children() const { return *std::max_element(child_counts_.begin(), child_counts_.end()); }

std::pair<int, int> DraftTree::level_range(int level) const {
    return {level_begin_[index(level)], level_begin_[index(level) + 1]};
}

int DraftTree::nodes_at(int level) const {
    const auto [begin, end] = level_range(level);
    return end - begin;
}

std::vector<int> DraftTree::level_widths() const {
    std::vector<int> widths;
    for (int level = 1; level <= depth(); ++level) {
        widths.push_back(nodes_at(level));
    }
    return widths;
}

AncestorMask DraftTree::ancestor_mask() const {
    AncestorMask mask;
    mask.tokens = verified_tokens();
    mask.words_per_row = (mask.tokens + 63) / 64;
    const auto words = static_cast<std::size_t>(mask.words_per_row);
    mask.bits.assign(words * parents_.size(), 0);
    for (int token = 0; token < mask.tokens; ++token) {
        const auto row = mask.bits.begin() + token * mask.words_per_row;
        if (token > 0) {
            std::copy_n(mask.bits.begin() + parent(token) * mask.words_per_row, words, row);
        }
        row[token / 64] |= std::uint64_t{1} << (token % 64);
    }
    return mask;
}

UnrolledTree DraftTree::unrolled() const {
    UnrolledTree result;
    std::vector<int> open = {0};  // depth first, the child of rank 1 on top
    while (!open.empty()) {
        const int token = open.back();
        open.pop_back();
        for (int child = children(token) - 1; child >= 0; --child) {
            open.push_back(first_child(token) + child);
        }
        if (children(token) == 0) {
            std::vector<int> path(index(level(token)) + 1);
            for (int at = token; level(at) > 0; at = parent(at)) {  // it begins with the root, which is token 0
                path[index(level(at))] = at;
            }
            result.paths.push_back(std::move(path));
        }
    }
    result.tokens = unrolled_tokens();
    result.repeated_tokens = result.tokens - verified_tokens();
    return result;
}

int DraftTree::unrolled_tokens() const {
    int tokens = 0;
    for (int token = 0; token < verified_tokens(); ++token) {
        tokens += children(token) == 0 ? level(token) + 1 : 0;
    }
    return tokens;
}

std::size_t DraftTree::hash() const {
    std::uint64_t hash = 14695981039346656037u;  // FNV-1a over the counts, which determine the tree
    for (const int count : child_counts_) {
        hash = (hash ^ static_cast<std::uint64_t>(count)) * 1099511628211u;
    }
    return static_cast<std::size_t>(hash);
}

namespace {

constexpr int unreached = -1;

/// For each token a token of the cycle its ancestors end in, or `unreached` where they end in the root or nowhere.
std::vector<int> cycle_members(const std::vector<int>& parents) {
    const int tokens = static_cast<int>(parents.size()) + 1;
    std::vector<int> visited_from(parents.size() + 1, 0), cycle(parents.size() + 1, unreached);
    for (int start = 1; start < tokens; ++start) {
        int at = start;
        while (at > 0 && at < tokens && visited_from[static_cast<std::size_t>(at)] == 0) {
            visited_from[static_cast<std::size_t>(at)] = start;
            at = parents[static_cast<std::size_t>(at - 1)];
        }
        const bool is_token = static_cast<std::size_t>(at) < visited_from.size();
        if (is_token && visited_from[static_cast<std::size_t>(at)] == start) {
            for (int member = at; cycle[static_cast<std::size_t>(member)] == unreached;
                 member = parents[static_cast<std::size_t>(member - 1)]) {
                cycle[static_cast<std::size_t>(member)] = at;
            }
        }
    }
    return cycle;
}

std::string cycle_text(const std::vector<int>& parents, int start) {
    std::string text = std::to_string(start);
    int at = start;
    for (int steps = 0; steps < 8; ++steps) {
        at = parents[static_cast<std::size_t>(at - 1)];
        text += " -> " + std::to_string(at);
        if (at == start) {
            return text;
        }
    }
    return text + " -> ...";
}

}  // namespace

std::vector<std::string> parent_problems(const std::vector<int>& parents) {
    if (parents.size() > static_cast<std::size_t>(most_tree_nodes)) {
        return {"the tree has " + std::to_string(parents.size()) + " nodes, but at most " + std::to_string(most_tree_nodes) +
                " are possible"};
    }
    std::string detached, absent, cyclic, late;
    const std::vector<int> cycle = cycle_members(parents);
    for (std::size_t i = 0; i < parents.size(); ++i) {
        const int token = static_cast<int>(i) + 1;
        const int parent = parents[i];
        const std::string name = "token " + std::to_string(token);
        if (parent < 0 && detached.empty()) {
            detached = "the tree is disconnected: " + name + " has parent " + std::to_string(parent) +
                       ", but only the root has none (the root is token 0 and has no entry of its own)";
        } else if (parent > static_cast<int>(parents.size()) && absent.empty()) {
            absent = "the tree is disconnected: " + name + " has parent " + std::to_string(parent) +
                     ", but the last token is " + std::to_string(parents.size());
        } else if (cycle[i + 1] != unreached) {
            cyclic = cyclic.empty() ? "the tree is cyclic: tokens " + cycle_text(parents, token) : cyclic;
        } else if (parent > token && parent <= static_cast<int>(parents.size()) && late.empty()) {
            late =
                name + " comes before its parent " + std::to_string(parent) + ", but parents must come before their children";
        }
    }
    std::vector<std::string> problems;
    for (const std::string& problem : {detached, absent, cyclic, late}) {
        if (!problem.empty()) {
            problems.push_back(problem);
        }
    }
    return problems;
}

}  // namespace treeline::sim
