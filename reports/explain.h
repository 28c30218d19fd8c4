// What --explain asks for: the sections behind the first screen of an answer.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace treeline::reports {

/// The value of --explain: nothing if it was not given, empty if it was given alone, else names of sections between commas.
using Explain = std::optional<std::string>;

constexpr std::size_t screen_width = 110;  ///< characters of a line that people read

/// Every line begins with `indent`.
std::string indented(const std::string& lines, const std::string& indent);

/// The names of `--explain` among `known`, in its order; "all", or nothing at all, means every one. Throws InputError with a
/// sentence that lists them.
std::vector<std::string> explained_names(const std::string& asked, const std::vector<std::string>& known);

/// A section as it is printed: its name in capitals, then its text.
std::string titled_section(const std::string& name, const std::string& text);

/// "More: --explain candidates|pareto|…|all", a line.
std::string more_text(const std::vector<std::string>& known);

/// The first screen alone; with --explain all, the first screen and every section; with names, the answer's sentence and these
/// sections.
std::string explained_answer(const Explain& explain, const std::vector<std::string>& known, const std::string& first_screen,
                             const std::string& sentence, const std::function<std::string(const std::string&)>& section);

}  // namespace treeline::reports
