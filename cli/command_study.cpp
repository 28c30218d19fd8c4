// treeline study: studies beside the main questions.
#include <CLI/CLI.hpp>

#include "cli/commands.h"

namespace treeline::cli {

Run add_study(CLI::App& app) {
    app.footer(
        "Example:\n  treeline study bandit examples/bandit/mamba-drafters.json\n\n`treeline study NAME --help` explains one.");
    return add_verbs(
        app, {{"break-even", "find the accept length at which a tree beats a chain, by tree size", add_break_even},
              {"traffic", "simulate throughput and latency under arriving requests, by speculation schedule", add_traffic},
              {"bandit", "simulate choosing tree shapes while decoding", add_bandit},
              {"acceptance", "compare verification methods over temperature on synthetic models", add_acceptance},
              {"fit", "fit runtime laws to measured times", add_fit},
              {"simulate", "run the C-simulation of an accelerator's passes: cycles by unit, stalls, FIFOs", add_fpga_simulate},
              {"claims", "check a paper's claims on an accelerator: draft sizes, ablation, formats, memories, trees",
               add_fpga_claims}});
}

}  // namespace treeline::cli
