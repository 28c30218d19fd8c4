// treeline fpga simulate: runs the C-simulation of a layer.
#include <chrono>
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/common_flags.h"
#include "cli/fpga/fpga_simulate.h"
#include "json/reader.h"
#include "reports/output_file.h"
#include "sim/fpga/round.h"

namespace treeline {
namespace {

struct Flags {
    CommonFlags common;
    FpgaFlags run;
    std::string replayed;
    std::string html;
};

constexpr int most_replayed = 4096;

void simulate(const Flags& flags) {
    const Format format = flags.common.chosen_format();
    const int replayed =
        flags.replayed.empty() ? -1 : static_cast<int>(whole_number("--replayed", flags.replayed, 0, most_replayed));
    const FpgaSimulation simulation = simulate_fpga(read_fpga_run(flags.run, flags.common.find()), replayed);
    if (!flags.html.empty()) {
        write_file(flags.html, fpga_simulation_html(simulation));
    }
    flags.common.deliver(format == Format::json  ? fpga_simulation_json(simulation, run_of(flags.run)).dump(2) + "\n"
                         : format == Format::csv ? fpga_simulation_csv(simulation)
                                                 : fpga_simulation_table(simulation));
}

}  // namespace

FpgaSimulation simulate_fpga(FpgaRun run, int replayed) {
    FpgaSimulation result;
    const fpga::TreeWork tree = fpga::tree_work(run.tree, run.design.ssm.rules, run.options.plan);
    fpga::LayerWork work = fpga::verify_work(tree, run.speculates() ? run.accept_length : 1.0, run.options).layer;
    result.replayed = replayed >= 0 ? replayed : static_cast<int>(std::lround(work.replayed));
    work.replayed = result.replayed;
    const auto began = std::chrono::steady_clock::now();
    result.layer = accelerator::planned_layer(run.board, run.design, run.target.shape,
                                              {fpga::verified_parents(run.tree), result.replayed, false});
    if (const auto wrong = accelerator::problems(result.layer.plan, result.layer.design); !wrong.empty()) {
        throw InputError(wrong);
    }
    result.trace = accelerator::trace_layer(result.layer.plan, result.layer.design);
    result.schedule = accelerator::schedule(result.trace.trace);
    result.simulation_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (!result.schedule.deadlock.empty()) {
        const std::string why = accelerator::deadlock_explanation(result.layer.plan, result.layer.design);
        throw InputError({why.empty() ? "design: deadlock: " + result.schedule.deadlock : "design.ssm.fifo_depth: " + why});
    }
    result.closed_form = fpga::layer_cycles(run.board, run.design, run.target.shape, work);
    result.issue = tree.schedule;
    result.run = std::move(run);
    return result;
}

FpgaVerb add_fpga_simulate(CLI::App& fpga) {
    auto flags = std::make_shared<Flags>();
    CLI::App* app = fpga.add_subcommand("simulate", "run the C-simulation of one layer: cycles by unit, stalls, FIFOs");
    add_fpga_run_flags(*app, flags->run);
    app->add_option("--replayed", flags->replayed, "Tokens recomputed before the tree (default: what the plan recomputes)")
        ->type_name("N");
    app->add_option("--html", flags->html, "Also write a page of charts into this file")->type_name("FILE");
    add_common_flags(*app, flags->common);
    app->footer(
        "Examples:\n"
        "  treeline fpga simulate examples/fpga/specmamba-vck190.json\n"
        "  treeline fpga simulate --design specmamba-vck190 --tree chain:15 --drafter mamba2-370m --acceptance 0.8 --format "
        "json");
    return {app, [flags] { simulate(*flags); }};
}

}  // namespace treeline
