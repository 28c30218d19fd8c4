#include "cli/shell/command_words.h"

#include <CLI/CLI.hpp>

#include "cli/commands.h"

namespace treeline::cli {
namespace {

CommandWords words_of(const CLI::App& app, const std::vector<std::string>& path) {
    // CLI11 hands the footer of a command on to those below it.
    const bool inherited = app.get_parent() != nullptr && app.get_parent()->get_footer() == app.get_footer();
    CommandWords words{path, app.get_description(), inherited ? "" : app.get_footer(), {}, {}, {}};
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_group().empty()) {
            continue;  // what this program was built without
        }
        const std::string value = option->get_items_expected_max() > 0 ? option->get_type_name() : std::string();
        for (const std::string& name : option->get_lnames()) {
            words.flags.push_back({"--" + name, value, option->get_description()});
        }
        if (option->get_lnames().empty()) {
            words.arguments.push_back({option->get_name(), value, option->get_description()});
        }
    }
    for (const CLI::App* verb : app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); })) {
        std::vector<std::string> below = path;
        below.push_back(verb->get_name());
        words.verbs.push_back(words_of(*verb, below));
    }
    return words;
}

void collect(const CommandWords& words, std::vector<const CommandWords*>& all) {
    all.push_back(&words);
    for (const CommandWords& verb : words.verbs) {
        collect(verb, all);
    }
}

}  // namespace

CommandWords program_words() {
    CLI::App app;
    declare_commands(app, [](const Run&) {});
    return words_of(app, {});
}

std::vector<const CommandWords*> with_verbs(const CommandWords& words) {
    std::vector<const CommandWords*> all;
    collect(words, all);
    return all;
}

}  // namespace treeline::cli
