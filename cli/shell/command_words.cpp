#include "cli/shell/command_words.h"

#include <regex>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/shell/catalogue_names.h"

namespace treeline::cli {
namespace {

/// The words of a list as help texts write them, at their beginning or after a colon: "Cost model: roofline, calibrated or
/// hoi". What stands in parentheses behind a word is about it.
std::vector<std::string> listed_words(const std::string& help) {
    const std::string word = R"([a-z][a-z0-9-]*(?:\.[a-z]+)?)", noted = word + R"((?: \([^()]*\))?)";
    const std::regex list("(?:^|: )((?:" + noted + ", )*" + noted + ",? or " + word + ")(?![a-z0-9:.-])");
    std::smatch found;
    if (!std::regex_search(help, found, list)) {
        return {};
    }
    const std::string text = std::regex_replace(found[1].str(), std::regex(R"( \([^()]*\))"), "");
    const std::regex each(word);
    std::vector<std::string> words;
    for (auto at = std::sregex_iterator(text.begin(), text.end(), each); at != std::sregex_iterator(); ++at) {
        if (at->str() != "or") {
            words.push_back(at->str());
        }
    }
    return words;
}

/// "tree show ".
std::string joined(const std::vector<std::string>& path) {
    std::string text;
    for (const std::string& word : path) {
        text += word + " ";
    }
    return text;
}

/// `taker`: as kind_of_names() knows it.
FlagWords flag_words(const std::string& taker, const std::string& name, const std::string& value, const std::string& help) {
    FlagWords words{name, value, help, {}, std::string(kind_of_names(taker))};
    if (words.names.empty()) {
        words.words = listed_words(help);
    }
    const bool of_files = value.find("PATH") != std::string::npos || name.find("TREE") != std::string::npos ||
                          value.find("TREE") != std::string::npos;
    words.files = words.words.empty() && (words.names.empty() || of_files);
    return words;
}

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
            words.flags.push_back(flag_words("--" + name, "--" + name, value, option->get_description()));
        }
        if (option->get_lnames().empty()) {
            const std::string name = option->get_name();
            words.arguments.push_back(flag_words(joined(path) + name, name, value, option->get_description()));
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
