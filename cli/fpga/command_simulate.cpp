// treeline study simulate: runs the C-simulation of one layer of every pass.
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "reports/fpga/fpga_simulation_output.h"
#include "requests/fpga/fpga_run_reader.h"
#include "text/output_file.h"

namespace treeline::cli {
namespace {

struct SimulateFlags {
    CommonFlags common;
    requests::FpgaFlags run;
    std::string replayed;
    std::string html;
};

constexpr int most_replayed = 4096;

void simulate(const SimulateFlags& flags) {
    const Format format = flags.common.chosen_format();
    const int replayed =
        flags.replayed.empty() ? -1 : static_cast<int>(requests::whole_number("--replayed", flags.replayed, 0, most_replayed));
    const sweeps::FpgaSimulation simulation =
        sweeps::simulate_fpga(requests::read_fpga_run(flags.run, flags.common.find()), replayed);
    if (!flags.html.empty()) {
        text::write_file(flags.html, reports::fpga_simulation_html(simulation));
    }
    flags.common.deliver(format == Format::json
                             ? reports::fpga_simulation_json(simulation, requests::run_of(flags.run)).dump(2) + "\n"
                         : format == Format::csv ? reports::fpga_simulation_csv(simulation)
                                                 : reports::fpga_simulation_table(simulation));
}

}  // namespace

Run add_fpga_simulate(CLI::App& app) {
    auto flags = std::make_shared<SimulateFlags>();
    app.add_option("FILE", flags->run.file, "Run (JSON), or an earlier result; flags override its keys");
    add_key_flags(app, requests::fpga_flags(), flags->run.texts);
    add_change_flags(app, flags->run);
    app.add_option("--replayed", flags->replayed, "Tokens recomputed before the tree (default: what the plan recomputes)")
        ->type_name("N");
    app.add_option("--html", flags->html, "Also write a page with charts to this file")->type_name(written_file);
    add_common_flags(app, flags->common);
    app.footer(
        "Examples:\n"
        "  treeline study simulate examples/fpga/specmamba-vck190.json\n"
        "  treeline study simulate --design specmamba-vck190 --tree chain:15 --drafter mamba2-370m --acceptance 0.8 --format "
        "json");
    return [flags] { simulate(*flags); };
}

}  // namespace treeline::cli
