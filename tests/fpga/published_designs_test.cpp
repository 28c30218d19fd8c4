// Do the published accelerators come out? What is fitted, on which row, stands in the design files; the checks say which
// figures were fitted and which were not.
#include <filesystem>

#include <catch2/catch.hpp>

#include "cli/fpga/fpga_estimate.h"
#include "hardware/fpga.h"
#include "sim/fpga/ablation.h"
#include "source_folder.h"

using namespace treeline;

namespace {

const std::filesystem::path source = treeline::testing::source_folder();
const Catalogue catalogue = {source / "models", source / "hardware"};

FpgaEstimate example(const std::string& name, const std::vector<std::string>& changes = {}) {
    FpgaFlags flags;
    flags.file = (source / "examples/fpga" / name).string();
    flags.changes = changes;
    return estimate_fpga(read_fpga_run(flags, catalogue));
}

FpgaEstimate plain_with(const std::string& design) {
    FpgaFlags flags;
    flags.design = design;
    return estimate_fpga(read_fpga_run(flags, catalogue));
}

}  // namespace

TEST_CASE("Every board and design of the catalogue can be read and fits", "[fpga]") {
    for (const std::string& name : board_names(catalogue.hardware)) {
        CHECK(problems_of(load_board(catalogue.hardware, name).value).empty());
    }
    for (const std::string& name : design_names(catalogue.hardware)) {
        CHECK(plain_with(name).round.tokens_per_second > 0.0);
    }
}

TEST_CASE("LightMamba on VCK190: 7.21 tokens/s, on which the memory efficiency is fitted", "[fpga]") {
    const FpgaEstimate light = example("lightmamba-vck190.json");
    CHECK(light.round.tokens_per_second == Approx(7.21).epsilon(0.05));
    // Table IV: 228 DSPs.
    CHECK(light.resources.total.dsps == 228.0);
}

TEST_CASE("LightMamba on U280: 93 tokens/s, with nothing fitted on it", "[fpga]") {
    // arXiv 2502.15260, abstract. The tile (32 x 32, from the DSP count) and the lanes are assumed; 73 tokens/s come out, 21 %
    // low.
    CHECK(plain_with("lightmamba-u280").round.tokens_per_second == Approx(93.0).epsilon(0.25));
}

TEST_CASE("SpecMamba on VCK190: 20.6 tokens/s, on which the levels of the tree are fitted", "[fpga]") {
    const FpgaEstimate spec = example("specmamba-vck190.json");
    CHECK(spec.round.tokens_per_second == Approx(20.6).epsilon(0.05));
    // Table IV, text: 2.85 times LightMamba on the same board.
    CHECK(spec.round.tokens_per_second / example("lightmamba-vck190.json").round.tokens_per_second ==
          Approx(2.85).epsilon(0.05));
    CHECK(spec.round.verify.bound == fpga::PassBound::memory);
    // Figure 9: 1.26 times LightMamba's tokens per joule. Not fitted: the power model is fitted on the ablation, and its
    // absolute scale drops out.
    CHECK(spec.round.tokens_per_joule / example("lightmamba-vck190.json").round.tokens_per_joule == Approx(1.26).epsilon(0.05));
}

TEST_CASE("Resources of the published designs", "[fpga]") {
    // Table III, VHK158: 3,537 DSPs of the Linear unit (W = 884 is derived from them), 1,068 of the SSM unit, 5,093 in all.
    const FpgaEstimate hbm = example("specmamba-vhk158.json");
    CHECK(hbm.resources.units[0].used.dsps == Approx(3537.0).epsilon(0.001));
    CHECK(hbm.resources.units[1].used.dsps == 1068.0);
    CHECK(hbm.resources.total.dsps == Approx(5093.0).epsilon(0.001));
    CHECK(hbm.resources.total.luts == Approx(975000.0).epsilon(0.01));
    CHECK(hbm.resources.total.urams == Approx(428.0).epsilon(0.10));
    // The state buffer of Table III (231 URAM, 415 BRAM18) is the FIFO, the state of a layer twice and the activation cache
    // here.
    double urams = 0.0;
    for (const fpga::UnitUse& unit : hbm.resources.units) {
        urams += unit.unit.starts_with("buffer: ") ? unit.used.urams : 0.0;
    }
    CHECK(urams == Approx(231.0).epsilon(0.10));
    // Table IV, VCK190: the DSP total is fitted (width of the tile); the LUT total follows from VHK158's units, unfitted.
    const FpgaEstimate ddr = example("specmamba-vck190.json");
    CHECK(ddr.resources.total.dsps == Approx(1106.0).epsilon(0.02));
    CHECK(ddr.resources.total.luts == Approx(536000.0).epsilon(0.05));
}

TEST_CASE("The published split of VHK158 is balanced", "[fpga]") {
    // P ≥ L·S·W / (d·N_in) for the SSM unit to keep up: 16 · 655,360 · 884 / (2,560 · 10,576) = 342.4, and P = 356: 4.0 % more.
    const FpgaEstimate hbm = example("specmamba-vhk158.json");
    const fpga::MambaShape& shape = hbm.run.target.shape;
    const double keeps_up =
        16.0 * shape.state_elements * hbm.run.design.linear.tile_weights() / (shape.width * shape.in_projection);
    CHECK(hbm.run.design.ssm.lanes / keeps_up == Approx(1.0).epsilon(0.041));
}

TEST_CASE("The gains of the three techniques, of which only the last is fitted", "[fpga]") {
    const FpgaEstimate spec = example("specmamba-vck190.json");
    const auto rows = fpga::ablation(spec.run.board, spec.run.design, spec.run.target.shape, spec.run.drafter->shape,
                                     spec.run.tree, spec.run.accept_length);
    // Figure 10: latency 1.42, 1.52, 1.23.
    CHECK(rows[2].latency_gain == Approx(1.42).epsilon(0.10));
    CHECK(rows[3].latency_gain == Approx(1.52).epsilon(0.10));
    CHECK(rows[4].latency_gain == Approx(1.23).epsilon(0.10));
    // Energy 1.51, 1.35, 1.16, of which the product is fitted. A power that grows with the rate alone cannot give T1 more
    // energy than latency gain, as the paper has it: 1.29 for 1.51.
    CHECK(rows[2].energy_gain == Approx(1.51).epsilon(0.15));
    CHECK(rows[3].energy_gain == Approx(1.35).epsilon(0.10));
    CHECK(rows[4].energy_gain == Approx(1.16).epsilon(0.05));
    CHECK(rows[4].round.tokens_per_second == spec.round.tokens_per_second);
}

TEST_CASE("More of anything is never slower", "[fpga]") {
    const FpgaRun run = example("specmamba-vhk158.json").run;
    const fpga::TreeWork work = fpga::tree_work(run.tree, run.design.ssm.rules, run.options.plan);
    const auto rate = [&](const fpga::Board& board, const fpga::Design& design) {
        return fpga::round_cost(board, design, run.target.shape, run.drafter->shape, work, run.accept_length, run.options)
            .tokens_per_second;
    };
    const double base = rate(run.board, run.design);
    fpga::Board faster_memory = run.board;
    faster_memory.bandwidth = 2.0 * faster_memory.bandwidth;
    CHECK(rate(faster_memory, run.design) >= base);
    const auto with = [&](auto change) {
        fpga::Design design = run.design;
        change(design);
        return rate(run.board, design);
    };
    CHECK(with([](fpga::Design& design) { design.ssm.lanes *= 2.0; }) > base);  // the SSM unit sets the pace here
    CHECK(with([](fpga::Design& design) { design.linear.tile_outputs *= 2.0; }) >= base);
    CHECK(with([](fpga::Design& design) { design.linear.tokens *= 2.0; }) >= base);
    CHECK(with([](fpga::Design& design) { design.clock_hz *= 1.2; }) > base);
    CHECK(with([](fpga::Design& design) { design.norm.lanes *= 4.0; }) > base);
    CHECK(with([](fpga::Design& design) { design.overlap = false; }) < base);
}
