// The words of a shell script, split as a POSIX shell and bash do.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engines/shell_variables.h"

namespace treeline::engines {

/// NAME=value, NAME+=value, as before a program's name.
bool is_assignment(std::string_view word);

struct ShellWords {
    std::vector<std::string> words;
    std::vector<std::size_t> line_starts;  ///< the words with which a line or, after ";", a command begins
};

/// Quotes, backslashes, continued lines, comments, variables (shell_variables.h). A list ("NAME=(...)") stands where it is put
/// in; one that nothing puts in, where it is written. Patterns of "case" are no words. Throws InputError when a quote stays
/// open.
ShellWords split_shell_words(std::string_view text, ShellVariables& variables);

}  // namespace treeline::engines
