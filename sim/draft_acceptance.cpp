#include "sim/draft_acceptance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace treeline::sim {
namespace {

const MeasuredShape* find_measured(const DraftAcceptance& acceptance, const DraftTree& tree) {
    const auto at = std::find_if(acceptance.measured.begin(), acceptance.measured.end(),
                                 [&](const MeasuredShape& shape) { return shape.tree == tree; });
    return at == acceptance.measured.end() ? nullptr : &*at;
}

bool is_chain(const DraftTree& tree) { return tree.nodes() == tree.depth(); }

/// From P(at least i accepted), i = 0 … depth.
AcceptedTokens from_at_least(std::vector<double> at_least) {
    AcceptedTokens tokens;
    tokens.exactly.clear();
    tokens.length = 0.0;
    for (std::size_t i = 0; i < at_least.size(); ++i) {
        tokens.length += at_least[i];
        const double next = i + 1 < at_least.size() ? at_least[i + 1] : 0.0;
        tokens.exactly.push_back(at_least[i] - next);
    }
    tokens.ends_at_leaf = tokens.exactly.back();
    return tokens;
}

AcceptedTokens of_chain(const Acceptance& chain, int depth) {
    AcceptedTokens tokens = from_at_least(chain.positions_to(depth));
    tokens.basis = chain.extrapolated(depth) ? AcceptanceBasis::extrapolated : AcceptanceBasis::stated;
    return tokens;
}

/// P(child of this rank is accepted | its parent on the level above was), of a chain's positions.
double child_acceptance(const DraftAcceptance& acceptance, const std::vector<double>& chain, int level, int rank) {
    const double before = chain[static_cast<std::size_t>(level - 1)];
    const double first = before > 0.0 ? chain[static_cast<std::size_t>(level)] / before : 0.0;
    if (rank == 1) {
        return first;
    }
    const double others = 1.0 - acceptance.siblings.rank(1);
    return others > 0.0 ? (1.0 - first) * std::min(1.0, acceptance.siblings.rank(rank) / others) : 0.0;
}

AcceptedTokens of_tree(const DraftAcceptance& acceptance, const DraftTree& tree) {
    std::vector<double> path(static_cast<std::size_t>(tree.verified_tokens()), 1.0);
    std::vector<double> at_least(static_cast<std::size_t>(tree.depth()) + 1, 0.0);
    std::vector<bool> has_children(path.size(), false);
    const std::vector<double> chain = acceptance.chain.positions_to(tree.depth());
    at_least.front() = 1.0;
    for (int level = 1; level <= tree.depth(); ++level) {
        const auto [begin, end] = tree.level_range(level);
        for (int token = begin; token < end; ++token) {
            const auto parent = static_cast<std::size_t>(tree.parent(token));
            has_children[parent] = true;
            const double p = path[parent] * child_acceptance(acceptance, chain, level, tree.rank(token));
            path[static_cast<std::size_t>(token)] = p;
            at_least[static_cast<std::size_t>(level)] += p;
        }
    }
    AcceptedTokens tokens = from_at_least(std::move(at_least));
    tokens.ends_at_leaf = 0.0;
    for (std::size_t token = 0; token < path.size(); ++token) {
        tokens.ends_at_leaf += has_children[token] ? 0.0 : path[token];
    }
    tokens.basis = acceptance.chain.extrapolated(tree.depth()) ? AcceptanceBasis::extrapolated : AcceptanceBasis::stated;
    return tokens;
}

}  // namespace

DraftAcceptance DraftAcceptance::scaled(double factor) const {
    DraftAcceptance result = *this;
    result.chain = chain.scaled(factor);
    for (MeasuredShape& shape : result.measured) {
        shape.accept_length = std::min(1.0 + (shape.accept_length - 1.0) * factor, shape.tree.depth() + 1.0);
    }
    return result;
}

DraftAcceptance DraftAcceptance::moved(double place) const {
    DraftAcceptance result = *this;
    result.chain = chain.moved(place, spread);
    for (MeasuredShape& shape : result.measured) {
        const int depth = shape.tree.depth();
        shape.accept_length =
            Acceptance::mean_length(shape.accept_length, depth, 0.0).moved(place, spread).accept_length(depth);
    }
    return result;
}

void DraftAcceptance::comes_from(AcceptanceOrigin where) {
    origin = where;
    spread = spread_of(where);
    spread_text = text_of(where);
}

std::vector<std::string> DraftAcceptance::problems() const {
    std::vector<std::string> problems = chain.problems();
    if (siblings.ranks() > 0) {
        const std::vector<std::string> more = siblings.problems();
        problems.insert(problems.end(), more.begin(), more.end());
    }
    for (const MeasuredShape& shape : measured) {
        if (!(shape.accept_length >= 1.0 && shape.accept_length <= shape.tree.depth() + 1.0)) {
            char text[160];
            std::snprintf(text, sizeof text, "a shape of %d levels yields 1 to %d tokens per round, not %g", shape.tree.depth(),
                          shape.tree.depth() + 1, shape.accept_length);
            problems.emplace_back(text);
        }
    }
    return problems;
}

std::string acceptance_problem(const DraftAcceptance& acceptance, const TreeShape& shape, const DraftTree& tree) {
    if (acceptance.most_draft_tokens > 0 && tree.depth() > acceptance.most_draft_tokens) {
        return "the drafter drafts at most " + std::to_string(acceptance.most_draft_tokens) + " tokens, not " +
               std::to_string(tree.depth());
    }
    if (acceptance.only_measured && tree.nodes() > 0 && find_measured(acceptance, tree) == nullptr) {
        return "acceptance was not measured with " + std::to_string(tree.nodes()) +
               " draft tokens, and its source says that other lengths say nothing about it";
    }
    const bool known = is_chain(tree) || acceptance.siblings.ranks() > 0 || std::holds_alternative<SequencesShape>(shape) ||
                       find_measured(acceptance, tree) != nullptr;
    return known
               ? ""
               : "nothing says how often siblings are accepted: give \"per_rank\" with the drafter's acceptance, or the accept "
                 "length measured with this shape";
}

AcceptedTokens accepted_tokens(const DraftAcceptance& acceptance, const TreeShape& shape, const DraftTree& tree) {
    if (const MeasuredShape* measured = find_measured(acceptance, tree)) {
        AcceptedTokens tokens = of_chain(Acceptance::mean_length(measured->accept_length, tree.depth(), 0.0), tree.depth());
        tokens.basis = AcceptanceBasis::stated;
        return tokens;
    }
    if (is_chain(tree)) {
        return of_chain(acceptance.chain, tree.depth());
    }
    const auto* sequences = std::get_if<SequencesShape>(&shape);  // several, as one is a chain
    if (sequences != nullptr && acceptance.siblings.ranks() == 0) {
        AcceptedTokens tokens = of_chain(independent_chains_bound(acceptance.chain, sequences->drafts, sequences->draft_tokens),
                                         sequences->draft_tokens);
        tokens.basis = AcceptanceBasis::upper_bound;
        return tokens;
    }
    return of_tree(acceptance, tree);
}

double kept_share(const AcceptedTokens& accepted, double answer_tokens) {
    constexpr std::size_t walked = 64;
    const double left = std::max(1.0, answer_tokens - 1.0);
    if (answer_tokens <= 0.0 || accepted.exactly.size() < 2) {
        return 1.0;
    }
    if (left >= static_cast<double>(walked)) {
        double pairs = 0.0;  // E[n·(n − 1)] of the tokens of a round
        for (std::size_t i = 0; i < accepted.exactly.size(); ++i) {
            pairs += accepted.exactly[i] * static_cast<double>(i) * static_cast<double>(i + 1);
        }
        return left / (left + 0.5 * pairs / accepted.length);
    }
    std::array<double, walked + 1> rounds{};
    const auto last = static_cast<std::size_t>(std::ceil(left));
    for (std::size_t r = 1; r <= last; ++r) {
        rounds[r] = 1.0;
        for (std::size_t i = 0; i < accepted.exactly.size() && i + 1 < r; ++i) {
            rounds[r] += accepted.exactly[i] * rounds[r - 1 - i];
        }
    }
    const double fewer = std::floor(left);
    const double mean = std::lerp(rounds[static_cast<std::size_t>(fewer)], rounds[last], left - fewer);
    return left / (accepted.length * mean);
}

}  // namespace treeline::sim
