// A command line as a shell would split it, and its flags.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace treeline::engines {

struct CommandLine {
    std::vector<std::pair<std::string, std::string>> environment;  ///< NAME=value before the program
    std::vector<std::string> words;
    std::vector<std::size_t> line_starts =
        {};  ///< words with which a line or, after ";", a command begins; none in a list of words

    /// Whether the environment sets the variable to this value.
    [[nodiscard]] bool sets(std::string_view name, std::string_view value) const;
};

/// Splits as a shell does (shell_words.h): quotes, comments, variables and lists that the text itself sets before ("NAME=value
/// ... $NAME") or gives a default ("${NAME:-value}"); other expansions stay as they are written. Of "eval TEXT"
/// and "bash -c TEXT" the words of the text come back. Throws InputError when a quote stays open.
CommandLine split_command_line(std::string_view text);

/// Adds words and, counted from the first of them, those with which a line begins.
void append(CommandLine& command, const std::vector<std::string>& words, const std::vector<std::size_t>& line_starts);

struct Flag {
    std::string name;                  ///< with its dashes; underscores after "--" are dashes
    std::optional<std::string> value;  ///< after "=", or the next word, even if a switch takes none
    std::vector<std::string> further;  ///< words that follow it, for flags that take a list
};

/// The flags of a command line, in order.
class Flags {
public:
    explicit Flags(const std::vector<std::string>& words);

    [[nodiscard]] const std::vector<Flag>& all() const { return flags_; }
    /// The last flag with one of these names, as argument parsers keep it; null if there is none.
    [[nodiscard]] const Flag* find(const std::vector<std::string_view>& names) const;
    [[nodiscard]] bool has(const std::vector<std::string_view>& names) const { return find(names) != nullptr; }
    /// Its value as a whole number; nothing if it is absent or something else.
    [[nodiscard]] std::optional<long long> number(const std::vector<std::string_view>& names) const;
    /// Completes names that are a prefix of exactly one of `known`, as Python's argparse does.
    void complete(const std::vector<std::string>& known);

private:
    std::vector<Flag> flags_;
};

}  // namespace treeline::engines
