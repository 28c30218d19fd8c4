// treeline completions, treeline manual: what a package installs beside the program.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/shell/catalogue_names.h"
#include "cli/shell/command_words.h"
#include "text/input_error.h"

namespace treeline::cli {

namespace {

struct CompletionFlags {
    std::string shell, names, catalogue;
};

void complete(const CompletionFlags& flags) {
    if (flags.shell.empty() == flags.names.empty()) {
        throw text::InputError({"completions: needs a shell (bash, zsh or fish), or --names; see treeline completions --help"});
    }
    if (!flags.shell.empty()) {
        return write_answer("-", completions_for(program_words(), flags.shell), false);
    }
    std::string lines;
    for (const std::string& name : catalogue_names(flags.names, requests::find_catalogue(flags.catalogue))) {
        lines += name + "\n";
    }
    write_answer("-", lines, false);
}

}  // namespace

Run add_completions(CLI::App& app) {
    auto flags = std::make_shared<CompletionFlags>();
    app.add_option("SHELL", flags->shell, "bash, zsh or fish");
    app.add_option("--names", flags->names,
                   "Instead, names of the catalogue, one a line, which the scripts ask for: models, devices, stacks, boards, "
                   "designs, hardware, engines, drafters, expert-kernels, attention-kernels, trees or examples")
        ->type_name("KIND");
    app.add_option("--catalogue", flags->catalogue, "Folder that holds models/ and hardware/")->type_name("DIR");
    app.footer("Example:\n  treeline completions bash >~/.local/share/bash-completion/completions/treeline");
    return [flags] { complete(*flags); };
}

Run add_manual(CLI::App& app) {
    app.footer("Example:\n  treeline manual | man -l -");
    return [] { write_answer("-", manual_page(program_words()), false); };
}

}  // namespace treeline::cli
