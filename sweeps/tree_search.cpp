#include "sweeps/tree_search.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "sweeps/goal.h"

namespace treeline::sweeps {
namespace {

/// Rounds of one list of speculations, one a rollback.
struct Priced {
    std::vector<sim::Speculation> speculations;
    std::vector<std::pair<sim::Rollback, sim::CompiledRound>> rounds;
};

Priced price(const sim::RoundSetup& setup, const TreeSearch& search, std::vector<sim::Speculation> speculations) {
    Priced priced{std::move(speculations), {}};
    for (const sim::Rollback rollback : search.rollbacks) {
        sim::RoundSetup with = setup;
        with.rollback = rollback;
        with.speculations = priced.speculations;
        if (problems_of(with).empty()) {
            priced.rounds.emplace_back(rollback, sim::compile_round(with));
        }
    }
    return priced;
}

std::optional<TreeChoice> best_of(const Priced& priced, double batch, double context, bool chains_only) {
    std::optional<TreeChoice> best;
    for (const auto& [rollback, round] : priced.rounds) {
        std::vector<int> allowed = runnable(round);
        std::erase_if(allowed,
                      [&](int i) { return chains_only && !sim::is_chain(priced.speculations[static_cast<std::size_t>(i)]); });
        const std::optional<FittingPoint> fastest = fastest_that_fits(round, allowed, batch, context);
        if (fastest && (!best || better_at_a_point(fastest->estimate, best->estimate))) {
            const sim::RoundRow& row = round.row(fastest->speculation);
            best = {rollback, priced.speculations[static_cast<std::size_t>(fastest->speculation)],
                    static_cast<int>(row.draft_tokens), static_cast<int>(row.depth), fastest->estimate};
        }
    }
    return best;
}

sim::Speculation optimal(int nodes, int depth, int children, sim::Verification verification) {
    std::string label = "optimal " + std::to_string(nodes) + "," + std::to_string(depth);
    return {sim::OptimalShape{nodes, depth, children}, verification,
            children > 0 ? label + "," + std::to_string(children) : std::move(label)};
}

/// Every size up to `most_single_steps`, then steps of a sixteenth, and the most itself.
std::vector<int> sizes_up_to(int most) {
    constexpr int most_single_steps = 128;
    std::vector<int> sizes;
    for (int size = 1; size < most; size += size < most_single_steps ? 1 : size / 16) {
        sizes.push_back(size);
    }
    sizes.push_back(most);
    return sizes;
}

std::vector<sim::Speculation> candidates_of(const TreeSearch& search) {
    std::vector<sim::Speculation> all = sim::chains_up_to(std::min(search.most_depth, search.most_nodes));
    for (const int children : search.children) {
        for (int depth = 1; depth <= search.most_depth; ++depth) {
            for (const int nodes : sizes_up_to(search.most_nodes)) {
                for (const sim::Verification verification : search.verifications) {
                    if (nodes > depth) {  // as many nodes as levels: a chain
                        all.push_back(optimal(nodes, depth, children, verification));
                    }
                }
            }
        }
    }
    return all;
}

std::string why_nothing_runs(const sim::RoundSetup& setup, const TreeSearch& search, const Priced& priced) {
    if (priced.rounds.empty()) {
        sim::RoundSetup with = setup;
        with.rollback = search.rollbacks.empty() ? setup.rollback : search.rollbacks.front();
        const std::vector<std::string> problems = problems_of(with);
        return problems.empty() ? "no rollback policy is left" : problems.front();
    }
    for (const sim::RoundRow& row : priced.rounds.front().second.rows) {
        if (!row.problem.empty()) {
            return row.problem;
        }
    }
    return {};
}

bool any_tree_runs(const Priced& priced) {
    for (const auto& [rollback, round] : priced.rounds) {
        for (int i = 0; i < static_cast<int>(round.rows.size()); ++i) {
            if (round.runs(i) && !sim::is_chain(priced.speculations[static_cast<std::size_t>(i)])) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace

std::vector<BestAtBatch> search_trees(const sim::RoundSetup& setup, const TreeSearch& search) {
    const Priced priced = price(setup, search, candidates_of(search));
    if (!any_tree_runs(priced)) {
        throw std::invalid_argument(why_nothing_runs(setup, search, priced));
    }
    std::vector<BestAtBatch> best;
    for (const double batch : search.batches) {
        const auto tree = best_of(priced, batch, search.context, false);
        const auto chain = best_of(priced, batch, search.context, true);
        if (tree && chain) {
            best.push_back({batch, *tree, *chain});
        }
    }
    return best;
}

}  // namespace treeline::sweeps
