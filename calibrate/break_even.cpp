#include "calibrate/break_even.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace treeline::calibrate {
namespace {

bool usable(Seconds time) { return std::isfinite(time.value()) && time > Seconds(0.0); }

std::string named(const TreeRound& tree) { return "the tree of " + std::to_string(tree.nodes) + " nodes"; }

/// Whether `a` is the better round of one size.
bool better(const TreeRound& a, const TreeRound& b) {
    return a.accept_length.value_or(1.0) * b.time > b.accept_length.value_or(1.0) * a.time;
}

BreakEvenPoint point_of(const ChainRound& chain, const TreeRound& tree) {
    BreakEvenPoint point;
    point.tree = tree;
    point.ratio_needed = tree.time / chain.time;
    point.ratio_half_width = point.ratio_needed * std::hypot(tree.half_width / tree.time, chain.half_width / chain.time);
    if (chain.accept_length) {
        point.accept_length_needed = *chain.accept_length * point.ratio_needed;
    }
    if (chain.accept_length && tree.accept_length) {
        point.ratio_reached = *tree.accept_length / *chain.accept_length;
        point.gain = *point.ratio_reached / point.ratio_needed;
    }
    return point;
}

void find_paying_sizes(BreakEven& result) {
    const std::vector<BreakEvenPoint>& points = result.points;
    const auto best = std::max_element(points.begin(), points.end(), [](const BreakEvenPoint& a, const BreakEvenPoint& b) {
        return a.gain.value_or(0.0) < b.gain.value_or(0.0);
    });
    if (!best->gain) {
        return;
    }
    result.best = static_cast<std::size_t>(best - points.begin());
    const auto pays = [](const BreakEvenPoint& point) { return point.pays(); };
    const auto first = std::find_if(points.begin(), points.end(), pays);
    if (first == points.end()) {
        return;
    }
    const auto end = std::find_if(points.rbegin(), points.rend(), pays).base();  // past the last one that pays
    result.pays_from = first->tree.nodes;
    result.pays_to = (end - 1)->tree.nodes;
    result.losing_between = static_cast<int>(std::count_if(first, end, std::not_fn(pays)));
    if (end != points.end()) {
        result.stops_at = end->tree.nodes;
    }
}

}  // namespace

std::vector<std::string> problems(const ChainRound& chain, const std::vector<TreeRound>& trees) {
    std::vector<std::string> found;
    if (trees.empty()) {
        found.emplace_back("there is no tree to compare");
    }
    if (!usable(chain.time)) {
        found.emplace_back("the time of a round with the chain must be above zero");
    }
    if (chain.accept_length && !(*chain.accept_length >= 1.0)) {
        found.emplace_back("the accept length of the chain must be at least 1, as it counts the bonus token");
    }
    for (const TreeRound& tree : trees) {
        if (!usable(tree.time)) {
            found.push_back("the time of a round with " + named(tree) + " must be above zero");
        } else if (tree.accept_length && !(*tree.accept_length >= 1.0)) {
            found.push_back("the accept length of " + named(tree) + " must be at least 1, as it counts the bonus token");
        } else if (tree.accept_length.has_value() != trees.front().accept_length.has_value()) {
            found.push_back("the accept length of " + named(tree) + " and others must be known for all trees or for none");
        } else {
            continue;
        }
        break;
    }
    return found;
}

BreakEven break_even(const ChainRound& chain, const std::vector<TreeRound>& trees) {
    std::vector<TreeRound> sorted = trees;
    std::stable_sort(sorted.begin(), sorted.end(), [](const TreeRound& a, const TreeRound& b) { return a.nodes < b.nodes; });
    BreakEven result;
    result.chain = chain;
    for (const TreeRound& tree : sorted) {
        const bool same_size = !result.points.empty() && result.points.back().tree.nodes == tree.nodes;
        if (same_size && !better(tree, result.points.back().tree)) {
            continue;
        }
        if (same_size) {
            result.points.pop_back();
        }
        result.points.push_back(point_of(chain, tree));
    }
    find_paying_sizes(result);
    return result;
}

}  // namespace treeline::calibrate
