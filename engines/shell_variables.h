// The variables of a shell script, and what they expand to.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace treeline::engines {

/// What a "$..." stands for.
struct ShellExpansion {
    std::vector<std::string> words;  ///< several, or none, of a list
    bool splits = false;             ///< at its blanks, where it stands outside quotes
};

/// Where the expansion ends whose "$" is at `at`, with what it nests; just past the "$" where it is none.
std::size_t end_of_shell_expansion(std::string_view text, std::size_t at, bool in_quotes);

/// A shell's variables as far as the text itself sets them. A plain one is a list of one word.
class ShellVariables {
public:
    /// NAME=value, NAME+=value, NAME=(...) and NAME+=(...). An empty list takes nothing away: scripts empty one in the branch
    /// that does not draft, and which branch runs is not known.
    void assign(const std::string& name, std::vector<std::string> words, bool adds, bool list);
    [[nodiscard]] bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
    /// What the "$" at `at` stands for, and `at` moved past it: "$NAME", "${NAME}", "${NAME[@]}", "${NAME:-default}",
    /// "${NAME:+other}", "${NAME%suffix}", "${NAME#prefix}". Others, among them "$(...)", stay as they are written. Throws
    /// InputError where all expansions together are too long.
    ShellExpansion expand(std::string_view text, std::size_t& at, bool in_quotes);
    /// A text with all its variables put in.
    std::string expanded(std::string_view text);

private:
    struct Parameter {
        std::string_view name;
        bool whole_list = false;     ///< "[@]", "[*]"
        std::string_view operation;  ///< ":-default"
    };
    static std::optional<Parameter> parameter_of(std::string_view written);
    std::optional<ShellExpansion> value_of(const Parameter& parameter);
    std::optional<ShellExpansion> chosen_by(const Parameter& parameter, const std::vector<std::string>* words);
    std::string default_of(std::string_view text);

    std::map<std::string, std::vector<std::string>, std::less<>> values_;
    std::size_t expanded_ = 0;  ///< bytes
};

}  // namespace treeline::engines
