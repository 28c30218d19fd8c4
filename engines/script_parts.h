// Parts of what people paste around a command line: files that a script writes first, and presets of llama.cpp's router.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "engines/command_line.h"

namespace treeline::engines {

/// Takes the files that a script writes out of its text, by their names ("cat <<EOF > name", "cat > name <<'EOF'", "tee name
/// <<EOF", each up to its EOF).
std::map<std::string, std::string> take_written_files(std::string& script);

struct Preset {
    std::string name;  ///< "a preset", with its section where there are several
    CommandLine command;
};

/// A preset of llama.cpp's router ("spec-type = draft-mtp" on a line of its own, below "[model]" or without): the flags of what
/// stands before all sections or below "[*]", and of the first section that speaks of speculation. Nothing where the text is
/// something else.
std::optional<Preset> preset_of(const std::string& text);

}  // namespace treeline::engines
