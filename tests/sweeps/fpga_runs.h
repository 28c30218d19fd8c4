// A run of an accelerator that several tests use.
#pragma once

#include "hardware/fpga.h"
#include "setups.h"
#include "sim/trees/tree_shape.h"
#include "sweeps/fpga/fpga_run.h"

namespace treeline::testing {

/// SpecMamba's design on the VHK158: Mamba2-2.7B, drafts of two levels by Mamba2-370M.
inline sweeps::FpgaRun fpga_run() {
    sweeps::FpgaRun run;
    run.board = hardware::load_board(source_folder() / "hardware", "vhk158").value;
    run.design = hardware::load_design(source_folder() / "hardware", "specmamba-vhk158").value;
    run.target = {"mamba2-2.7b", sim::fpga::shape_of(model("mamba2-2.7b"))};
    run.drafter = sweeps::FpgaModel{"mamba2-370m", sim::fpga::shape_of(model("mamba2-370m"))};
    run.tree = sim::build_tree(sim::WidthsShape{{2, 3}}, sim::RankAcceptance());
    run.accept_length = 2.4;
    return run;
}

/// The same without drafts.
inline sweeps::FpgaRun plain_fpga_run() {
    sweeps::FpgaRun run = fpga_run();
    run.drafter.reset();
    run.tree = sim::DraftTree();
    run.accept_length = sweeps::FpgaRun().accept_length;
    return run;
}

inline sim::fpga::RoundCost cost_of(const sweeps::FpgaRun& run) {
    const sim::fpga::TreeWork work = sim::fpga::tree_work(run.tree, run.design.ssm.rules, run.options.plan);
    return sim::fpga::round_cost(run.board, run.design, run.target.shape,
                                 run.drafter ? run.drafter->shape : sim::fpga::MambaShape(), work, run.accept_length,
                                 run.options);
}

}  // namespace treeline::testing
