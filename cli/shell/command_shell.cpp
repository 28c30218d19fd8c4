// treeline completions, treeline manual: what a package installs beside the program.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/shell/command_words.h"

namespace treeline::cli {

Run add_completions(CLI::App& app) {
    auto shell = std::make_shared<std::string>();
    app.add_option("SHELL", *shell, "bash, zsh or fish")->required();
    app.footer("Example:\n  treeline completions bash >~/.local/share/bash-completion/completions/treeline");
    return [shell] { write_answer("-", completions_for(program_words(), *shell), false); };
}

Run add_manual(CLI::App& app) {
    app.footer("Example:\n  treeline manual | man -l -");
    return [] { write_answer("-", manual_page(program_words()), false); };
}

}  // namespace treeline::cli
