// Does the C-simulation of every pass of a round, drafting passes with their wider tiles included, agree with the closed form
// that prices the round?
#include <cmath>
#include <filesystem>

#include <catch2/catch.hpp>

#include "requests/fpga/fpga_run_reader.h"
#include "source_folder.h"
#include "sweeps/fpga/fpga_simulate.h"

namespace simulated_round_test {

using namespace treeline;

namespace {

sweeps::FpgaRun run_of(const std::string& example, const std::string& plan, bool overlap) {
    const std::filesystem::path& source = treeline::testing::source_folder();
    requests::FpgaFlags flags;
    flags.file = (source / "examples/fpga" / example).string();
    flags.texts["plan"] = plan;
    flags.no_overlap = !overlap;
    return requests::read_fpga_run(flags, {source / "models", source / "hardware"});
}

}  // namespace

TEST_CASE("The closed form of a whole round is within 0.5 % of its C-simulation, pass by pass", "[fpga][slow]") {
    double worst = 0.0;
    for (const char* example : {"specmamba-vck190.json", "specmamba-vhk158.json"}) {
        for (const char* plan : {"hybrid", "store-states", "recompute"}) {
            for (const bool overlap : {true, false}) {
                const sweeps::FpgaSimulation simulation = sweeps::simulate_fpga(run_of(example, plan, overlap), -1);
                // The verification, and levels of 1 (root), 3, 2 and 1 nodes; recomputation makes the 8 levels all different.
                CHECK(simulation.passes.size() == (plan == std::string("recompute") ? 9 : 5));
                for (const sweeps::FpgaSimulatedPass& pass : simulation.passes) {
                    CAPTURE(example, plan, overlap, pass.name, pass.cycles, pass.closed_form);
                    const double error = std::abs(pass.closed_form / pass.cycles - 1.0);
                    CHECK(error <= 0.005);
                    worst = std::max(worst, error);
                }
                CHECK(simulation.round_closed_form() == Approx(simulation.round_cycles()).epsilon(0.005));
            }
        }
    }
    WARN("passes of 12 rounds, worst " << 100.0 * worst << " %");
}

TEST_CASE("Drafting passes take wider tiles than the verification where multipliers and memory allow", "[fpga]") {
    // VHK158, 14,144 multipliers for one token, memory feeds 8 · 819e9 · 0.84 / 250e6 / 4.046875 = 5,440 weights a cycle:
    // ⌊5,440 / 26⌋ = 209 columns side by side instead of 34.
    const sweeps::FpgaRun run = run_of("specmamba-vhk158.json", "hybrid", true);
    const kernels::accelerator::PlannedLayer draft = kernels::accelerator::planned_layer(
        run.board, run.design, run.drafter->shape, kernels::accelerator::draft_tokens(1, 0));
    CHECK(draft.plan.inputs.blocks == 10);  // ⌈2,048 / 209⌉
    CHECK(draft.plan.state_tiles == 76);    // ⌈209 · 128 / 356⌉
    CHECK(draft.design.passes == 1);
    const kernels::accelerator::PlannedLayer verified = kernels::accelerator::planned_layer(
        run.board, run.design, run.drafter->shape, {std::vector<int>(1, sim::fpga::committed_state), 0, false});
    CHECK(verified.plan.inputs.blocks == 61);  // ⌈2,048 / 34⌉
}

}  // namespace simulated_round_test
