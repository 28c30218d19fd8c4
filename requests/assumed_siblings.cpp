#include "requests/assumed_siblings.h"

#include <algorithm>

namespace treeline::requests {
namespace {

/// Infini-AI-Lab/Sequoia at 0ff3ff7, acceptance-rate-vector.pt, the first eight of its 32 ranks
/// (examples/acceptance/sequoia-demo.json).
const sim::RankAcceptance& published_siblings() {
    static const sim::RankAcceptance ranks({0.634, 0.108, 0.057, 0.0225, 0.0195, 0.015, 0.0045, 0.003});
    return ranks;
}

bool needs_siblings(const sim::DraftAcceptance& acceptance, const sim::Speculation& speculation) {
    if (sim::is_chain(speculation)) {
        return false;
    }
    sim::DraftAcceptance with = acceptance;
    with.siblings = published_siblings();
    const sim::DraftTree tree = sim::build_tree(speculation.shape, published_siblings());
    return !sim::acceptance_problem(acceptance, speculation.shape, tree).empty() &&
           sim::acceptance_problem(with, speculation.shape, tree).empty();
}

}  // namespace

void assume_siblings(sweeps::DrafterChoice& choice, const std::vector<sim::Speculation>& speculations) {
    sim::DraftAcceptance& acceptance = choice.acceptance;
    if (acceptance.siblings.ranks() > 0 || std::none_of(speculations.begin(), speculations.end(),
                                                        [&](const auto& each) { return needs_siblings(acceptance, each); })) {
        return;
    }
    acceptance.siblings = published_siblings();
    choice.acceptance_text += "; siblings of trees as with Sequoia's demo, since nothing says how often they are accepted";
}

}  // namespace treeline::requests
