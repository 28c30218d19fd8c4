// Do the published accelerators come out? What is fitted, on which row, stands in the design files; the checks say which
// figures were fitted and which were not.
#include <filesystem>
#include <stdexcept>

#include <catch2/catch.hpp>

#include "hardware/fpga.h"
#include "requests/fpga/fpga_run_reader.h"
#include "sim/fpga/ablation.h"
#include "source_folder.h"
#include "sweeps/fpga/fpga_estimate.h"

namespace published_designs_test {

using namespace treeline;

namespace {

const std::filesystem::path source = treeline::testing::source_folder();
const requests::Catalogue catalogue = {source / "models", source / "hardware"};

sweeps::FpgaEstimate example(const std::string& name, const std::vector<std::string>& changes = {}) {
    requests::FpgaFlags flags;
    flags.file = (source / "examples/fpga" / name).string();
    flags.changes = changes;
    return sweeps::estimate_fpga(requests::read_fpga_run(flags, catalogue));
}

sweeps::FpgaEstimate plain_with(const std::string& design) {
    requests::FpgaFlags flags;
    flags.texts["design"] = design;
    return sweeps::estimate_fpga(requests::read_fpga_run(flags, catalogue));
}

}  // namespace

TEST_CASE("Every board and design of the catalogue can be read and fits", "[fpga]") {
    for (const std::string& name : hardware::board_names(catalogue.hardware)) {
        CHECK(problems_of(hardware::load_board(catalogue.hardware, name).value).empty());
    }
    for (const std::string& name : hardware::design_names(catalogue.hardware)) {
        CHECK(plain_with(name).round.tokens_per_second > 0.0);
    }
}

TEST_CASE("LightMamba on VCK190: 7.21 tokens/s, on which the memory efficiency is fitted", "[fpga]") {
    const sweeps::FpgaEstimate light = example("lightmamba-vck190.json");
    CHECK(light.round.tokens_per_second == Approx(7.21).epsilon(0.05));
    // Table IV: 228 DSPs.
    CHECK(light.resources.total.dsps == 228.0);
}

TEST_CASE("LightMamba on U280: 93 tokens/s, with nothing fitted on it", "[fpga]") {
    // arXiv 2502.15260, abstract: 93 tokens/s. Tile, lanes and interval are not published; the design file says how they follow
    // from the DSP count. 92.5 come out.
    const sweeps::FpgaEstimate light = plain_with("lightmamba-u280");
    CHECK(light.round.tokens_per_second == Approx(93.0).epsilon(0.05));
    CHECK(light.resources.total.dsps == 1164.0);
    // One product a DSP could not do it: 1,164 products a cycle at 200 MHz form the 64 · 40,181,760 of a token 90.5 times a
    // second, with nothing else to do.
    CHECK(1164.0 * 200e6 / light.run.target.shape.body_weights() < 93.0);
    // The SSM unit keeps up, as the lanes are derived from.
    CHECK(light.round.plain.layer.bound == sim::fpga::LayerBound::linear);
    CHECK(light.round.plain.layer.ssm_busy == Approx(light.round.plain.layer.scan_linear).epsilon(0.01));
}

TEST_CASE("SpecMamba on VCK190: 20.6 tokens/s, on which the levels of the tree are fitted", "[fpga]") {
    const sweeps::FpgaEstimate spec = example("specmamba-vck190.json");
    CHECK(spec.round.tokens_per_second == Approx(20.6).epsilon(0.05));
    // Table IV, text: 2.85 times LightMamba on the same board.
    CHECK(spec.round.tokens_per_second / example("lightmamba-vck190.json").round.tokens_per_second ==
          Approx(2.85).epsilon(0.05));
    CHECK(spec.round.verify.bound == sim::fpga::PassBound::memory);
    // Figure 9: 1.26 times LightMamba's tokens per joule. Fitted: the energy of a clocked DSP.
    CHECK(spec.round.tokens_per_joule / example("lightmamba-vck190.json").round.tokens_per_joule == Approx(1.26).epsilon(0.05));
}

namespace {

const sim::fpga::Resources& use_of(const sweeps::FpgaEstimate& estimate, const std::string& unit) {
    for (const sim::fpga::UnitUse& use : estimate.resources.units) {
        if (use.unit == unit) {
            return use.used;
        }
    }
    throw std::invalid_argument(unit);
}

}  // namespace

TEST_CASE("Resources of SpecMamba on VHK158, unit by unit", "[fpga]") {
    // Table III: 3,537 DSPs of the Linear unit (W = 884 is derived from them), 1,068 of the SSM unit, 5,093 in all.
    const sweeps::FpgaEstimate hbm = example("specmamba-vhk158.json");
    CHECK(use_of(hbm, "linear unit").dsps == Approx(3537.0).epsilon(0.001));
    CHECK(use_of(hbm, "SSM unit").dsps == 1068.0);
    CHECK(hbm.resources.total.dsps == Approx(5093.0).epsilon(0.001));
    CHECK(hbm.resources.total.luts == Approx(975000.0).epsilon(0.01));
    // The Linear unit's 142 BRAM18: ⌈884 · 4.046875 / 36⌉ = 100 for weights on their way and ⌈26 · 16 · 4 / 36⌉ = 47 for
    // activations.
    CHECK(use_of(hbm, "buffer: weight tiles from memory").bram18s == 100.0);
    CHECK(use_of(hbm, "buffer: activations of a layer").bram18s == 47.0);
    CHECK(100.0 + 47.0 == Approx(142.0).epsilon(0.10));
    // The state buffer's 231 URAM: two layers' states and the activation cache.
    CHECK(use_of(hbm, "buffer: states of layers").urams + use_of(hbm, "buffer: activation cache").urams ==
          Approx(231.0).epsilon(0.10));
    // Its 415 BRAM18: ⌈356 · 16 / 36⌉ = 159 of the FIFO and twice ⌈356 · 8.5 / 36⌉ = 85 of states on their way, 21 % low.
    const double of_states = use_of(hbm, "buffer: tree FIFO").bram18s + use_of(hbm, "buffer: states from memory").bram18s +
                             use_of(hbm, "buffer: states to memory").bram18s;
    CHECK(of_states == 159.0 + 2.0 * 85.0);
    CHECK(of_states == Approx(415.0).epsilon(0.25));
    // Totals with the 977 BRAM18 and 197 URAM of the units that are not modelled: 1,534 and 428 published.
    CHECK(hbm.resources.total.bram18s == Approx(1534.0).epsilon(0.10));
    CHECK(hbm.resources.total.urams == Approx(428.0).epsilon(0.10));
}

TEST_CASE("Resources of SpecMamba on VCK190, whose units are not published", "[fpga]") {
    // Table IV: the DSP total is fitted (width of the tile); the LUT total follows from VHK158's units, unfitted.
    const sweeps::FpgaEstimate ddr = example("specmamba-vck190.json");
    CHECK(ddr.resources.total.dsps == Approx(1106.0).epsilon(0.02));
    CHECK(ddr.resources.total.luts == Approx(536000.0).epsilon(0.05));
    // 141 URAM: 61 as LightMamba on this board, two layers' states in ⌈32 · 16 / 72⌉ · ⌈2 · 20,480 / 4,096⌉ = 80, and the
    // staged activations in 8.
    CHECK(ddr.resources.total.urams == 61.0 + 80.0 + 8.0);
    CHECK(ddr.resources.total.urams == Approx(141.0).epsilon(0.10));
    // 1,223 BRAM18, of which VHK158's other units make 977 and the buffers here 75: 14 % low.
    CHECK(ddr.resources.total.bram18s == Approx(1223.0).epsilon(0.15));
    // The whole activation cache would not fit: 16 · 64 · 5,408 bytes are 44.3 Mbit, two layers' states 21.0; the published
    // 1,223 BRAM18 (18 Kibit) and 141 URAM (288 Kibit) hold 64.1 Mbit.
    const sim::fpga::MambaShape& shape = ddr.run.target.shape;
    const double cache_bits = 16.0 * shape.layers * shape.replay_activations() * 8.0;
    CHECK(cache_bits + 2.0 * 16.0 * shape.state_elements > 1024.0 * (1223.0 * 18.0 + 141.0 * 288.0));
}

TEST_CASE("What LightMamba's buffers take is not counted twice", "[fpga]") {
    for (const char* name : {"lightmamba-vck190", "lightmamba-u280"}) {
        const sweeps::FpgaEstimate light = plain_with(name);
        // Table IV, both boards: 912 BRAM18, 61 URAM; the design files take off what the buffers make.
        CHECK(light.resources.total.bram18s == 912.0);
        CHECK(light.resources.total.urams == 61.0);
    }
}

TEST_CASE("The published split of VHK158 is balanced", "[fpga]") {
    // P ≥ L·S·W / (d·N_in) for the SSM unit to keep up: 16 · 655,360 · 884 / (2,560 · 10,576) = 342.4, and P = 356: 4.0 % more.
    const sweeps::FpgaEstimate hbm = example("specmamba-vhk158.json");
    const sim::fpga::MambaShape& shape = hbm.run.target.shape;
    const double keeps_up =
        16.0 * shape.state_elements * hbm.run.design.linear.tile_weights() / (shape.width * shape.in_projection);
    CHECK(hbm.run.design.ssm.lanes / keeps_up == Approx(1.0).epsilon(0.041));
}

TEST_CASE("The gains of the three techniques, of which only the last latency is fitted", "[fpga]") {
    const sweeps::FpgaEstimate spec = example("specmamba-vck190.json");
    const auto rows = sim::fpga::ablation(spec.run.board, spec.run.design, spec.run.target.shape, spec.run.drafter->shape,
                                          spec.run.tree, spec.run.accept_length);
    // Figure 10: latency 1.42, 1.52, 1.23.
    CHECK(rows[2].latency_gain == Approx(1.42).epsilon(0.10));
    CHECK(rows[3].latency_gain == Approx(1.52).epsilon(0.10));
    CHECK(rows[4].latency_gain == Approx(1.23).epsilon(0.10));
    // Energy 1.51, 1.35, 1.16, on which the energy of a product is fitted, one quantity for three gains.
    CHECK(rows[2].energy_gain == Approx(1.51).epsilon(0.10));
    CHECK(rows[3].energy_gain == Approx(1.35).epsilon(0.10));
    CHECK(rows[4].energy_gain == Approx(1.16).epsilon(0.10));
    CHECK(rows[4].round.tokens_per_second == spec.round.tokens_per_second);
}

TEST_CASE("More of anything is never slower", "[fpga]") {
    const sweeps::FpgaRun run = example("specmamba-vhk158.json").run;
    const sim::fpga::TreeWork work = sim::fpga::tree_work(run.tree, run.design.ssm.rules, run.options.plan);
    const auto rate = [&](const sim::fpga::Board& board, const sim::fpga::Design& design) {
        return sim::fpga::round_cost(board, design, run.target.shape, run.drafter->shape, work, run.accept_length, run.options)
            .tokens_per_second;
    };
    const double base = rate(run.board, run.design);
    sim::fpga::Board faster_memory = run.board;
    faster_memory.bandwidth = 2.0 * faster_memory.bandwidth;
    CHECK(rate(faster_memory, run.design) >= base);
    const auto with = [&](auto change) {
        sim::fpga::Design design = run.design;
        change(design);
        return rate(run.board, design);
    };
    CHECK(with([](sim::fpga::Design& design) { design.ssm.lanes *= 2.0; }) > base);  // the SSM unit sets the pace here
    CHECK(with([](sim::fpga::Design& design) { design.linear.tile_outputs *= 2.0; }) >= base);
    CHECK(with([](sim::fpga::Design& design) { design.linear.tokens *= 2.0; }) >= base);
    CHECK(with([](sim::fpga::Design& design) { design.clock_hz *= 1.2; }) > base);
    CHECK(with([](sim::fpga::Design& design) { design.norm.lanes *= 4.0; }) > base);
    CHECK(with([](sim::fpga::Design& design) { design.overlap = false; }) < base);
}

}  // namespace published_designs_test
