// The C-simulation of a layer of every pass of a round, beside the closed form.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/hls/plan_of_design.h"
#include "sweeps/fpga/fpga_run.h"

namespace treeline::sweeps {

/// One layer of a pass, simulated and priced.
struct FpgaSimulatedPass {
    std::string name;
    double runs = 1.0;  ///< in a round
    double layers = 0.0;
    double cycles = 0.0;       ///< of a layer, simulated and not simulated phases
    double closed_form = 0.0;  ///< of a layer
};

struct FpgaSimulation {
    FpgaRun run;
    int replayed = 0;  ///< tokens recomputed before the tree, a whole number
    kernels::accelerator::PlannedLayer layer;
    kernels::accelerator::LayerTrace trace;
    kernels::accelerator::Schedule schedule;
    sim::fpga::LayerCycles closed_form;     ///< of the same tokens
    sim::fpga::IssueSchedule issue;         ///< of the tree, one group of interleaved state tiles
    double simulation_seconds = 0.0;        ///< of the verification
    std::vector<FpgaSimulatedPass> passes;  ///< of a round: the verification, then kinds of drafting passes

    /// Simulated cycles and the phases of the design that are not simulated.
    [[nodiscard]] double cycles() const { return static_cast<double>(schedule.cycles + layer.exposed_cycles); }
    /// closed form / simulated − 1.
    [[nodiscard]] double difference() const { return closed_form.total / cycles() - 1.0; }
    /// Cycles of the layers of all passes; LM heads and memory are not among them.
    [[nodiscard]] double round_cycles() const;
    [[nodiscard]] double round_closed_form() const;
};

/// Simulates the verification (plain decoding where the run does not speculate) and each kind of drafting pass. `replayed`
/// below zero: what the run's plan recomputes before the verification, rounded. Throws InputError where a trace deadlocks.
FpgaSimulation simulate_fpga(FpgaRun run, int replayed);

}  // namespace treeline::sweeps
