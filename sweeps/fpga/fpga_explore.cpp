#include "sweeps/fpga/fpga_explore.h"

#include <algorithm>

#include <fmt/format.h>

#include "text/input_error.h"
#include "text/number_text.h"

namespace treeline::sweeps {
namespace {

/// The design that takes the least of everything, to say why nothing fits.
std::vector<std::string> why_nothing_fits(const FpgaSpace& space) {
    FpgaCandidate smallest;
    smallest.tile_inputs = *std::min_element(space.tile_inputs.begin(), space.tile_inputs.end());
    smallest.tile_outputs = *std::min_element(space.tile_outputs.begin(), space.tile_outputs.end());
    smallest.lanes = *std::min_element(space.lanes.begin(), space.lanes.end());
    smallest.tokens = std::max(1.0, *std::min_element(space.tokens.begin(), space.tokens.end()));
    sim::fpga::Board limited = space.board;
    limited.resources.dsps *= space.utilisation;
    limited.resources.luts *= space.utilisation;
    limited.name = fmt::format("{} (DSPs and LUTs used up to {})", space.board.name, text::percent_text(space.utilisation));
    const sim::fpga::BufferNeeds needs = {.target = space.target, .plan = sim::fpga::Backtracking::store_states, .drafter = {}};
    const sim::fpga::Resources used =
        sim::fpga::total_use(design_of(space, smallest), needs, space.board.resources.urams > 0.0);
    std::vector<std::string> sentences = sim::fpga::excess_of(used, limited);
    for (std::string& sentence : sentences) {
        sentence = "no design fits: the smallest one " + sentence;
    }
    return sentences.empty() ? std::vector<std::string>{"no design fits the board"} : sentences;
}

}  // namespace

void explore(FpgaExploration& exploration, unsigned threads) {
    exploration.result = search_designs(exploration.space, exploration.objective, threads);
    if (exploration.result.best.empty()) {
        throw text::InputError(why_nothing_fits(exploration.space));
    }
}

}  // namespace treeline::sweeps
