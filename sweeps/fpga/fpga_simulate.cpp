#include "sweeps/fpga/fpga_simulate.h"

#include <chrono>
#include <cmath>
#include <numeric>

#include "sweeps/fpga/fpga_estimate.h"
#include "text/input_error.h"

namespace treeline::sweeps {
namespace {

/// Runs the plan; a deadlock is the design's fault.
kernels::accelerator::Schedule simulated(const kernels::accelerator::PlannedLayer& layer,
                                         kernels::accelerator::LayerTrace& trace) {
    if (const auto wrong = kernels::accelerator::problems(layer.plan, layer.design); !wrong.empty()) {
        throw text::InputError(wrong);
    }
    trace = kernels::accelerator::trace_layer(layer.plan, layer.design);
    kernels::accelerator::Schedule schedule = kernels::accelerator::schedule(trace.trace);
    if (!schedule.deadlock.empty()) {
        const std::string why = kernels::accelerator::deadlock_explanation(layer.plan, layer.design);
        throw text::InputError({why.empty() ? "design: deadlock: " + schedule.deadlock : "design.ssm.fifo_depth: " + why});
    }
    return schedule;
}

FpgaSimulatedPass simulated_draft(const FpgaRun& run, const sim::fpga::DraftStep& step) {
    sim::fpga::LayerWork work = sim::fpga::draft_work(step, run.accept_length, run.options.plan).layer;
    work.replayed = std::round(work.replayed);
    const sim::fpga::MambaShape& shape = run.drafter->shape;
    const kernels::accelerator::PlannedLayer layer = kernels::accelerator::planned_layer(
        run.board, run.design, shape,
        kernels::accelerator::draft_tokens(static_cast<int>(step.tokens), static_cast<int>(work.replayed)));
    kernels::accelerator::LayerTrace trace;
    const kernels::accelerator::Schedule schedule = simulated(layer, trace);
    return {pass_name(step), step.runs, shape.layers, static_cast<double>(schedule.cycles + layer.exposed_cycles),
            sim::fpga::layer_cycles(run.board, run.design, shape, work).total};
}

double sum_of(const std::vector<FpgaSimulatedPass>& passes, double FpgaSimulatedPass::*cycles) {
    return std::accumulate(passes.begin(), passes.end(), 0.0, [&](double sum, const FpgaSimulatedPass& pass) {
        return sum + pass.runs * pass.layers * pass.*cycles;
    });
}

}  // namespace

double FpgaSimulation::round_cycles() const { return sum_of(passes, &FpgaSimulatedPass::cycles); }

double FpgaSimulation::round_closed_form() const { return sum_of(passes, &FpgaSimulatedPass::closed_form); }

FpgaSimulation simulate_fpga(FpgaRun run, int replayed) {
    FpgaSimulation result;
    const sim::fpga::TreeWork tree = sim::fpga::tree_work(run.tree, run.design.ssm.rules, run.options.plan);
    sim::fpga::LayerWork work = sim::fpga::verify_work(tree, run.speculates() ? run.accept_length : 1.0, run.options).layer;
    result.replayed = replayed >= 0 ? replayed : static_cast<int>(std::lround(work.replayed));
    work.replayed = result.replayed;
    const auto began = std::chrono::steady_clock::now();
    result.layer = kernels::accelerator::planned_layer(run.board, run.design, run.target.shape,
                                                       {sim::fpga::verified_parents(run.tree), result.replayed, false});
    result.schedule = simulated(result.layer, result.trace);
    result.simulation_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    result.closed_form = sim::fpga::layer_cycles(run.board, run.design, run.target.shape, work);
    result.issue = tree.schedule;
    result.passes = {{run.speculates() ? "verification" : "plain decoding", 1.0, run.target.shape.layers, result.cycles(),
                      result.closed_form.total}};
    for (const sim::fpga::DraftStep& step : tree.draft) {
        result.passes.push_back(simulated_draft(run, step));
    }
    result.run = std::move(run);
    return result;
}

}  // namespace treeline::sweeps
