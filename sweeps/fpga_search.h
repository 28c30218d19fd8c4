// Searches accelerator designs on a board: width of the tile, SSM lanes, draft tree, drafter and backtracking plan.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/enum_names.h"
#include "sim/fpga/resources.h"
#include "sim/fpga/round.h"

namespace treeline::sweeps {

/// A draft tree of one drafter, with the accept length it reaches.
struct FpgaSpeculation {
    std::string drafter;  ///< empty: plain decoding
    sim::fpga::MambaShape drafter_shape;
    std::string tree_label;
    sim::DraftTree tree;
    double accept_length = 1.0;
};

struct FpgaSpace {
    sim::fpga::Board board;
    sim::fpga::Design base;  ///< everything that the axes do not replace; the FIFO is made as deep as each tree needs
    sim::fpga::MambaShape target;
    std::vector<double> tile_inputs, tile_outputs, lanes;
    std::vector<double> tokens;  ///< that the multipliers serve at once; 0 = the verified tokens of the tree
    std::vector<FpgaSpeculation> speculations;
    std::vector<sim::fpga::Backtracking> plans;
    double utilisation = 0.7;  ///< of DSPs and LUTs, above which designs do not route; memories may be used up

    [[nodiscard]] std::size_t size() const;
    /// Every violated constraint as a sentence (empty axes, zeros).
    [[nodiscard]] std::vector<std::string> problems() const;
};

enum class FpgaObjective {
    throughput,  ///< tokens a second
    latency,     ///< time of a round: the longest wait for a token
    energy       ///< tokens a joule
};
constexpr auto names_in(FpgaObjective) {
    using enum FpgaObjective;
    return enum_names<FpgaObjective>({{throughput, "throughput"}, {latency, "latency"}, {energy, "energy"}});
}

struct FpgaCandidate {
    std::size_t speculation = 0, plan = 0;  ///< indices into the space
    double tile_inputs = 0.0, tile_outputs = 0.0, lanes = 0.0, tokens = 0.0;
    int fifo_depth = 0;
    Seconds round;
    double tokens_per_second = 0.0;
    double tokens_per_joule = 0.0;  ///< 0 = power unknown
    sim::fpga::Resources used;
    double utilisation = 0.0;  ///< largest share of a resource
};

struct FpgaSearchResult {
    std::uint64_t points = 0;
    std::uint64_t too_large = 0;        ///< beyond the board or the utilisation limit
    std::vector<FpgaCandidate> best;    ///< by the objective, best first; at most ten
    std::vector<FpgaCandidate> pareto;  ///< tokens/s against tokens/J against utilisation, fastest first
    double evaluation_seconds = 0.0;    ///< summed over threads
};

/// The design of a candidate.
sim::fpga::Design design_of(const FpgaSpace& space, const FpgaCandidate& candidate);

/// Tries every point. The space must have no problems(). Results do not depend on the number of threads.
FpgaSearchResult search_designs(const FpgaSpace& space, FpgaObjective objective, unsigned threads);

}  // namespace treeline::sweeps
