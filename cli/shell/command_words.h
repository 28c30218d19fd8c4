// The words that a command line may hold, as the commands declare them: what completions and the manual are made of.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace treeline::cli {

struct FlagWords {
    std::string name;   ///< "--target", or "FILE" of an argument without a flag
    std::string value;  ///< "NAME"; empty for a flag that takes none
    std::string help;
    std::vector<std::string> words;  ///< all that it may be, where its help lists them ("table, json or csv")
    std::string names;  ///< else the kind of names of the catalogue that it takes (catalogue_names.h); may be empty
    bool files = true;  ///< whether it may be a file, too
};

struct CommandWords {
    std::vector<std::string> path;  ///< "study", "bandit"; empty for the program itself
    std::string summary, footer;
    std::vector<FlagWords> arguments, flags;
    std::vector<CommandWords> verbs;
};

/// Of the program, with every command that `treeline --help` shows.
CommandWords program_words();
/// `words` and what is below it, parents first.
std::vector<const CommandWords*> with_verbs(const CommandWords& words);

/// A script that completes command lines: "bash", "zsh" or "fish". Throws InputError for another shell.
std::string completions_for(const CommandWords& program, const std::string& shell);
/// A page for man(1), in roff.
std::string manual_page(const CommandWords& program);

}  // namespace treeline::cli
