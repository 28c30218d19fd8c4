#include "sweeps/fpga/fpga_estimate.h"

#include <fmt/format.h>

namespace treeline::sweeps {

FpgaEstimate estimate_fpga(FpgaRun run) {
    FpgaEstimate estimate;
    estimate.work = sim::fpga::tree_work(run.tree, run.design.ssm.rules, run.options.plan);
    const sim::fpga::MambaShape drafter = run.drafter ? run.drafter->shape : sim::fpga::MambaShape();
    estimate.round =
        sim::fpga::round_cost(run.board, run.design, run.target.shape, drafter, estimate.work, run.accept_length, run.options);
    for (const sim::fpga::DraftStep& step : estimate.work.draft) {
        const sim::fpga::PassWork work = sim::fpga::draft_work(step, run.accept_length, run.options.plan);
        estimate.draft.push_back({step, sim::fpga::pass_cost(run.board, run.design, drafter, work)});
    }
    const sim::fpga::BufferNeeds needs = {run.target.shape, estimate.work.verified_tokens, run.options.plan, drafter};
    estimate.resources = sim::fpga::resource_use(run.design, needs, run.board.resources.urams > 0.0);
    estimate.memory = sim::fpga::memory_needed(run.design, run.target.shape, drafter, estimate.work, run.options.plan);
    estimate.run = std::move(run);
    return estimate;
}

std::vector<FpgaTerm> terms_of(const sim::fpga::LayerCycles& layer) {
    return {{"norm", layer.norm},
            {"in_proj: B, C, first step sizes", layer.preamble},
            {"in_proj: x and gate, with the scan", layer.scan},
            {"gated norm", layer.gated_norm},
            {"out_proj", layer.out_projection},
            {"overhead of norms", layer.norm_overhead},
            {"exposed control and buffers", layer.exposed}};
}

std::string pass_name(const sim::fpga::DraftStep& step) {
    if (step.first) {
        return "draft, root";
    }
    std::string name = fmt::format("draft, {:.0f} token{}", step.tokens, step.tokens == 1.0 ? "" : "s");
    if (step.replayed > 0.0) {
        return name + fmt::format(" after {:.0f}", step.replayed);
    }
    return step.parents == 1.0 ? name : name + fmt::format(" of {:.0f}", step.parents);
}

std::vector<FpgaNamedPass> passes_of(const FpgaEstimate& estimate) {
    const bool speculates = estimate.run.speculates();
    std::vector<FpgaNamedPass> passes = {{"plain decoding", speculates ? 0.0 : 1.0, &estimate.round.plain}};
    if (speculates) {
        passes.push_back({"verification", 1.0, &estimate.round.verify});
    }
    for (const FpgaDraftPass& pass : estimate.draft) {
        passes.push_back({pass_name(pass.step), pass.step.runs, &pass.cost});
    }
    return passes;
}

}  // namespace treeline::sweeps
