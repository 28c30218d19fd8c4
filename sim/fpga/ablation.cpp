#include "sim/fpga/ablation.h"

namespace treeline::sim::fpga {

std::array<AblationRow, 5> ablation(const Board& board, const Design& design, const MambaShape& target,
                                    const MambaShape& drafter, const DraftTree& tree, double accept_length) {
    std::array<AblationRow, 5> rows;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        AblationRow& row = rows[i];
        row.stage = all_ablation_stages[i];
        Design staged = design;
        staged.overlap = row.stage == AblationStage::overlap;
        RoundOptions options;
        options.plan = row.stage == AblationStage::naive ? Backtracking::naive : Backtracking::hybrid;
        options.tree_states = row.stage == AblationStage::naive || row.stage == AblationStage::hybrid_backtracking
                                  ? TreeStates::off_chip
                                  : TreeStates::fifo;
        const TreeWork work = tree_work(row.stage == AblationStage::plain ? DraftTree() : tree, design.ssm.rules, options.plan);
        row.round = round_cost(board, staged, target, drafter, work, accept_length, options);
        if (i > 0) {
            row.latency_gain = row.round.tokens_per_second / rows[i - 1].round.tokens_per_second;
            const double before = rows[i - 1].round.tokens_per_joule;
            row.energy_gain = before > 0.0 ? row.round.tokens_per_joule / before : 1.0;
        }
    }
    return rows;
}

}  // namespace treeline::sim::fpga
