// treeline fpga: prices accelerator designs for Mamba-2 on FPGA boards.
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/fpga_estimate.h"

namespace treeline {
namespace {

struct Flags {
    CommonFlags common;
    FpgaFlags run;
};

/// One verb of the command. A further one is a function that adds it and a line in add_fpga.
struct Verb {
    CLI::App* app;
    Run run;
};

void add_run_flags(CLI::App& app, FpgaFlags& run) {
    app.add_option("FILE", run.file, "Run (JSON), or an earlier result; flags replace its keys");
    app.add_option("--design", run.design, "Accelerator: name in hardware/fpga/designs, or description")
        ->type_name("NAME|PATH");
    app.add_option("--board", run.board, "Board (default: the one the design was made for)")->type_name("NAME|PATH");
    app.add_option("--target", run.target, "Mamba-2 model (default mamba2-2.7b)")->type_name("NAME|PATH");
    app.add_option("--drafter", run.drafter, "Mamba-2 model that drafts (default: plain decoding)")->type_name("NAME|PATH");
    app.add_option("--tree", run.tree, "Draft tree as in `treeline tree` (chain:8, children:..., a name or path)")
        ->type_name("TREE");
    app.add_option("--accept-length", run.accept_length, "Mean tokens a round, the bonus token included")->type_name("TOKENS");
    app.add_option("--acceptance", run.acceptance, "Instead: rate of a draft token, or JSON ({\"per_rank\": [0.6, 0.2]})")
        ->type_name("RATE|JSON");
    app.add_option("--plan", run.plan, "Backtracking: hybrid (default), store-states, recompute or naive")->type_name("PLAN");
    app.add_option("--tree-states", run.tree_states, "fifo (default) or off-chip")->type_name("WHERE");
    app.add_option("--set", run.changes, "A number of the design to replace: lanes=64, state_bits=16, tile_outputs=32, ...")
        ->type_name("KEY=NUMBER");
    app.add_flag("--no-overlap", run.no_overlap, "Linear and SSM unit work in turn");
}

void estimate(const Flags& flags) {
    const Format format = flags.common.chosen_format();
    const FpgaEstimate result = estimate_fpga(read_fpga_run(flags.run, flags.common.find()));
    flags.common.deliver(format == Format::json  ? fpga_json(result, run_of(flags.run)).dump(2) + "\n"
                         : format == Format::csv ? fpga_csv(result)
                                                 : fpga_table(result));
}

Verb add_estimate_verb(CLI::App& fpga) {
    auto flags = std::make_shared<Flags>();
    CLI::App* app = fpga.add_subcommand("estimate", "explain one design: cycles of a layer, a round, resources, energy");
    add_run_flags(*app, flags->run);
    add_common_flags(*app, flags->common);
    app->footer(
        "Examples:\n"
        "  treeline fpga estimate examples/fpga/specmamba-vck190.json\n"
        "  treeline fpga estimate --design specmamba-vhk158 --drafter mamba2-370m --tree chain:8 --acceptance 0.8");
    return {app, [flags] { estimate(*flags); }};
}

}  // namespace

Run add_fpga(CLI::App& app) {
    const std::vector<Verb> verbs = {add_estimate_verb(app)};
    app.footer(
        "Example:\n  treeline fpga estimate examples/fpga/specmamba-vck190.json\n\n`treeline fpga VERB --help` explains one.");
    return [verbs] {
        for (const Verb& verb : verbs) {
            if (verb.app->parsed()) {
                return verb.run();
            }
        }
        throw InputError({"fpga: needs estimate; see treeline fpga --help"});
    };
}

}  // namespace treeline
