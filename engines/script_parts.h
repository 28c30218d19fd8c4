// Parts of what people paste around a command line: files that a script writes first, units of systemd, and calls of Python
// that take the same settings as flags.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engines/command_line.h"

namespace treeline::engines {

/// The name of a document that goes into no file.
constexpr std::string_view standard_input = "/dev/stdin";

/// Whether a text is a name as keys and variables have it.
bool is_key(const std::string& word);

/// Takes the files that a script writes out of its text, by their names ("cat <<EOF > name", "cat > name <<'EOF'", "tee name
/// <<EOF", each up to its EOF), and the document that another program reads ("python3 - <<EOF") as `standard_input`. A document
/// that a shell or kubectl reads stays.
std::map<std::string, std::string> take_written_files(std::string& script);

/// Puts what a shell would put in place of its substitutions, as far as the text says it: "$(cat <<'EOF' ... EOF)" and "$(cat
/// name)" of a file in `files` become the text in quotes; "<(echo '...')", "<(printf ...)" and "<(cat <<EOF ... EOF)" become
/// the name of a further file in `files`. Others stay as they are written.
std::string with_substitutions(const std::string& script, std::map<std::string, std::string>& files);

/// What a unit of systemd (or a Quadlet) starts: the first "ExecStart=" or "Exec=", with its continued lines, and the variables
/// of "Environment=". Nothing where the text is something else.
std::optional<CommandLine> command_of_unit(const std::string& text);

/// The arguments of a Python call that starts an engine (vLLM's LLM, EngineArgs; SGLang's Engine, ServerArgs) as flags:
/// strings, numbers, True and dictionaries; what is no literal is left out. Likewise the list of words that a script gives to
/// subprocess or to a launcher, json.dumps of a configuration among them. Nothing where the text holds neither.
std::optional<CommandLine> command_of_python(const std::string& text);

}  // namespace treeline::engines
