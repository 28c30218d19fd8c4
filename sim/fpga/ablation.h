// The three techniques of SpecMamba, added one after the other.
#pragma once

#include <array>
#include <string_view>

#include "sim/enum_names.h"
#include "sim/fpga/round.h"

namespace treeline::sim::fpga {

enum class AblationStage { plain, naive, hybrid_backtracking, fifo_tree, overlap };

constexpr auto names_in(AblationStage) {
    using enum AblationStage;
    return enum_names<AblationStage>({{plain, "no speculation"},
                                      {naive, "naive speculation"},
                                      {hybrid_backtracking, "+ T1 hybrid backtracking"},
                                      {fifo_tree, "+ T2 FIFO tree verification"},
                                      {overlap, "+ T3 overlap of Linear and SSM unit"}});
}
inline constexpr auto all_ablation_stages = values_of<AblationStage>();

struct AblationRow {
    AblationStage stage = AblationStage::plain;
    RoundCost round;
    double latency_gain = 1.0;  ///< time a token of the stage before / of this one
    double energy_gain = 1.0;   ///< the same in tokens per joule; 1 if the power is unknown
};

/// Plain decoding; naive speculation (every node of draft and verification: its parent's state read, its own written and
/// copied, whole and uncompressed, Linear and SSM unit in turn); then hybrid backtracking, the on-chip FIFO, and overlap.
std::array<AblationRow, 5> ablation(const Board& board, const Design& design, const MambaShape& target,
                                    const MambaShape& drafter, const DraftTree& tree, double accept_length);

}  // namespace treeline::sim::fpga
