// The list of commands. Each has a file of its own, command_<name>.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace treeline::cli {

/// What a command does once its flags are parsed. Throws InputError (bad input) or OutputError (cannot write).
using Run = std::function<void()>;

/// Thrown by a command that did its work but exits with a code other than 0 (findings of `lint`).
struct Finished {
    int exit_code = 1;
};

struct Command {
    std::string name;
    std::string summary;     ///< one line of `treeline --help`
    Run (*add)(CLI::App&);   ///< declares the command's flags
    std::string group = {};  ///< heading of `treeline --help`
};

/// In the order of `treeline --help`.
const std::vector<Command>& commands();

/// Declares every command below the program's `app`. Once a command's flags are parsed, `chosen` gets what runs it.
void declare_commands(CLI::App& app, const std::function<void(const Run&)>& chosen);

/// Declares commands below `app` ("tree show"). What it returns runs the chosen one; without one it throws InputError.
Run add_verbs(CLI::App& app, const std::vector<Command>& verbs);

Run add_models(CLI::App& app);
Run add_hardware(CLI::App& app);
Run add_estimate(CLI::App& app);
Run add_sweep(CLI::App& app);
Run add_results(CLI::App& app);
Run add_recommend(CLI::App& app);
Run add_report(CLI::App& app);
Run add_explore(CLI::App& app);
Run add_tree(CLI::App& app);
Run add_study(CLI::App& app);
Run add_fpga_simulate(CLI::App& app);
Run add_fpga_claims(CLI::App& app);
Run add_acceptance(CLI::App& app);
Run add_fit(CLI::App& app);
Run add_break_even(CLI::App& app);
Run add_bandit(CLI::App& app);
Run add_policies(CLI::App& app);
Run add_traffic(CLI::App& app);
Run add_calibrate(CLI::App& app);
Run add_decode(CLI::App& app);
Run add_validate(CLI::App& app);
/// Whether this build can; if not, the command says so, and --help does not list it.
bool can_validate();
Run add_import(CLI::App& app);
Run add_diagnose(CLI::App& app);
Run add_plan(CLI::App& app);
Run add_lint(CLI::App& app);
Run add_serve(CLI::App& app);
Run add_inputs(CLI::App& app);
Run add_examples(CLI::App& app);
Run add_completions(CLI::App& app);
Run add_manual(CLI::App& app);

}  // namespace treeline::cli
