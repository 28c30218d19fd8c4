#include "requests/fit/break_even_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/fit/time_source_reader.h"
#include "requests/keys/break_even_keys.h"
#include "requests/setup_reader.h"
#include "requests/speculation_reader.h"
#include "requests/tree_reader.h"
#include "sim/trees/optimal_tree.h"
#include "text/number_text.h"

namespace treeline::requests {
namespace {

constexpr std::size_t most_trees = 10'000;

Seconds seconds_or_zero(json::Reader& at, std::string_view key) {
    return at.has(key) ? at.seconds(key, json::Zero::allowed) : Seconds(0.0);
}

sweeps::TimedRounds read_timed(json::Reader& at, const std::filesystem::path& folder) {
    sweeps::TimedRounds rounds{read_time_source(at.object(side_keys::verify), folder), {}, {}};
    if (auto drafting = at.optional_object(side_keys::drafting)) {
        rounds.drafting = {seconds_or_zero(*drafting, drafting_keys::fixed),
                           seconds_or_zero(*drafting, drafting_keys::per_level),
                           seconds_or_zero(*drafting, drafting_keys::per_node)};
        if (drafting->has(drafting_keys::by_nodes)) {
            rounds.draft = read_time_source(drafting->object(drafting_keys::by_nodes), folder);
        }
        drafting->finish();
    }
    return rounds;
}

sweeps::SimulatedRounds read_simulated(json::Reader at, Descriptions& descriptions) {
    sweeps::SimulatedRounds rounds;
    rounds.target = read_target(at.object_or_text(simulated_keys::target, "model"), descriptions);
    rounds.platform = read_platform(at.object_or_text(simulated_keys::platform, "device"), descriptions);
    rounds.drafter = read_drafter(at.object(simulated_keys::drafter), descriptions);
    rounds.rollback = read_rollback(at, simulated_keys::rollback);
    rounds.decoding = read(at, simulated_keys::decoding);
    rounds.batch = read<double>(at, simulated_keys::batch);
    rounds.context = read<double>(at, simulated_keys::context);
    at.finish();
    return rounds;
}

/// The source of a side; nothing set if it states none.
sweeps::RoundSource read_source(json::Reader& at, Descriptions& descriptions, const std::filesystem::path& folder) {
    sweeps::RoundSource source;
    const bool timed = at.has(side_keys::verify), simulated = at.has(side_keys::simulate);
    if (timed && simulated) {
        at.problem({}, "gives verify and simulate, but exactly one is needed");
    } else if (timed) {
        source.timed = read_timed(at, folder);
    } else if (simulated) {
        source.simulated = read_simulated(at.object(side_keys::simulate), descriptions);
    }
    if (at.has(side_keys::drafting) && !timed) {
        at.problem(side_keys::drafting, "is set, but verify is missing");
    }
    return source;
}

/// The best trees of each size with every number of levels, so that the best depth for the times at hand is found.
nlohmann::ordered_json best_trees_of(const std::vector<int>& nodes, int depth, int children) {
    nlohmann::ordered_json grid = {{"nodes", nodes}, {"depth", {{"from", 1}, {"to", depth}}}};
    if (children > 0) {
        grid["children"] = children;
    }
    return {{"shapes", nlohmann::ordered_json::array({{{"optimal", std::move(grid)}}})}};
}

std::vector<sim::Speculation> without_plain(std::vector<sim::Speculation> speculations) {
    std::erase_if(speculations, [](const sim::Speculation& speculation) { return sim::is_plain_decoding(speculation); });
    return speculations;
}

/// Shapes under "shapes", or the best trees of "nodes".
void read_trees(json::Reader& at, Descriptions& descriptions, sweeps::BreakEvenInput& input, bool with_shapes) {
    if (at.has(side_keys::shapes)) {
        if (at.has(side_keys::nodes) || at.has(side_keys::depth)) {
            at.problem(side_keys::shapes, "is given together with nodes or depth, but exactly one is needed");
        }
        input.shapes = without_plain(read_speculations(at, descriptions).speculations);
        return;
    }
    input.nodes = read(at, side_keys::nodes);
    const auto depth = read<int>(at, side_keys::depth);
    const auto children = read<int>(at, side_keys::children);
    const nlohmann::ordered_json verification =
        at.has(side_keys::verification) ? at.raw().at("verification") : nlohmann::ordered_json("auto");
    if (input.nodes.size() * static_cast<std::size_t>(depth) > most_trees) {
        at.problem(side_keys::nodes, fmt::format("spans more than {} trees with up to {} levels", most_trees, depth));
    } else if (with_shapes && !input.nodes.empty()) {
        nlohmann::ordered_json grid = best_trees_of(input.nodes, depth, children);
        grid["verification"] = verification;
        json::Document shapes = json::Document::of(grid, at.place());
        json::Reader root = shapes.root();
        input.shapes = without_plain(read_speculations(root, descriptions).speculations);
        for (const std::string& problem : shapes.problems()) {
            at.problem({}, problem);
        }
    }
}

void read_chain(json::Reader& at, Descriptions& descriptions, sweeps::BreakEvenInput& input) {
    if (at.has(side_keys::accept_length)) {
        input.chain_accept_length = read(at, side_keys::accept_length);
    }
    input.chains = without_plain(read_speculations(at, descriptions).speculations);
    if (at.has(side_keys::shapes)) {
        at.problem(side_keys::shapes, "does not belong here; draft_tokens describes a chain");
    } else if (input.chains.empty()) {
        at.problem(side_keys::draft_tokens, "must be above zero");
    }
    if (input.chains.size() > 1 && input.chain_accept_length) {
        at.problem(side_keys::accept_length, "is a single number, but several chains are given");
    }
}

void check(json::Reader& root, const sweeps::BreakEvenInput& input) {
    if (input.acceptance && input.tree.simulated && input.chain.simulated) {
        root.problem(break_even_keys::acceptance, "is set, but simulated rounds use the acceptance of their drafter");
    }
    if (input.chains.size() > 1 && input.chain.timed && !input.acceptance) {
        root.problem("chain.draft_tokens", "holds several values, but without acceptance the fastest is unknown");
    }
    const bool levels = input.tree.timed && input.tree.timed->drafting.per_level > Seconds(0.0);
    if (levels && input.shapes.empty()) {
        root.problem("tree.drafting.per_level", "needs acceptance or shapes, which determine how many levels the trees have");
    }
}

}  // namespace

sweeps::BreakEvenInput read_break_even(json::Document& document, Descriptions& descriptions,
                                       const std::filesystem::path& folder) {
    json::Reader root = document.root();
    sweeps::BreakEvenInput input;
    input.title = read(root, break_even_keys::title);
    input.source = read(root, break_even_keys::source);
    if (root.has(break_even_keys::acceptance)) {
        input.acceptance = read_acceptance(root.object(break_even_keys::acceptance), descriptions).acceptance;
    }
    json::Reader tree = root.object(break_even_keys::tree);
    input.tree = read_source(tree, descriptions, folder);
    if (!input.tree.timed && !input.tree.simulated && !(tree.has(side_keys::verify) && tree.has(side_keys::simulate))) {
        tree.problem({}, "needs verify (times of passes) or simulate (a set-up to price)");
    }
    read_trees(tree, descriptions, input, input.tree.simulated || (input.acceptance && input.acceptance->siblings.ranks() > 0));
    static_cast<void>(tree.has(side_keys::verification));
    tree.finish();
    json::Reader chain = root.object(break_even_keys::chain);
    input.chain = read_source(chain, descriptions, folder);
    if (!input.chain.timed && !input.chain.simulated) {
        input.chain = input.tree;
    }
    read_chain(chain, descriptions, input);
    chain.finish();
    root.finish();
    check(root, input);
    document.throw_if_problems();
    input.provenance = descriptions.provenance();
    return input;
}

}  // namespace treeline::requests
