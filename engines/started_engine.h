// The engine that a command line starts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engines/command_line.h"
#include "engines/engine.h"

namespace treeline::engines {

/// The engine whose program a command line starts: by a word that can be nothing else, or by a name alone that is no flag's
/// value and no folder; nothing if no word tells.
std::optional<EngineName> engine_of_program(const CommandLine& command);

/// Whether a word is a flag, so that a name of an engine beside it may start one: a report names engines, too.
bool has_flags(const CommandLine& command);

/// The same, or else by the flags.
std::optional<EngineName> engine_of_command(const CommandLine& command);

/// Throws InputError where a text starts more servers than people write into one.
void refuse_many_servers(std::size_t servers);

/// The commands of a script, line by line, that start an engine and have flags of speculation, each with the environment of
/// all.
std::vector<CommandLine> drafting_servers(const CommandLine& script);

/// The first word that stands for others that are not given ("$EXTRA_ARGS", "${ARGS[@]}"); empty without one.
std::string open_word_of(const CommandLine& command);

}  // namespace treeline::engines
