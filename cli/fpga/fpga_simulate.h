// treeline fpga simulate: the C-simulation of a layer of every pass of a round, beside the closed form.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/commands.h"
#include "cli/fpga/fpga_run.h"
#include "kernels/hls/plan_of_design.h"

namespace treeline {

/// A verb of `treeline fpga`. A further one is a function that adds it and a line in add_fpga.
struct FpgaVerb {
    CLI::App* app = nullptr;
    Run run;
};

/// The flags that name a run, as every verb that prices or simulates one has them.
void add_fpga_run_flags(CLI::App& app, FpgaFlags& flags);
FpgaVerb add_fpga_simulate(CLI::App& fpga);

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
    accelerator::PlannedLayer layer;
    accelerator::LayerTrace trace;
    accelerator::Schedule schedule;
    fpga::LayerCycles closed_form;          ///< of the same tokens
    fpga::IssueSchedule issue;              ///< of the tree, one group of interleaved state tiles
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

/// The FIFOs that hold data (weights, blocks, waiting states), as numbers of the schedule's streams.
std::vector<int> fifos_of(const FpgaSimulation& simulation);
/// What the FIFO of waiting states holds while the SSM unit works on its first block: cycles since it began, and states.
std::vector<std::pair<std::int64_t, int>> steps_of_first_block(const FpgaSimulation& simulation);
/// Cycles of one of 200 stretches of the layer.
std::int64_t stretch_of_layer(const FpgaSimulation& simulation);

std::string fpga_simulation_table(const FpgaSimulation& simulation);
/// Format "treeline-fpga-simulation", version 1, with the FIFO's contents over time.
nlohmann::ordered_json fpga_simulation_json(const FpgaSimulation& simulation, const nlohmann::ordered_json& echo);
/// One line a unit.
std::string fpga_simulation_csv(const FpgaSimulation& simulation);
/// A page of charts: units over time, where they wait, FIFOs over time.
std::string fpga_simulation_html(const FpgaSimulation& simulation);

}  // namespace treeline
