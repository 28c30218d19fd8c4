// One line on the terminal behind standard error that says what is still at work. Whatever is said next takes its place.
#pragma once

#include <string_view>

namespace treeline::text {

/// Shows a line in place of the one before; nothing where standard error is no terminal, or an answer has begun to appear.
void show_status(std::string_view line);

/// Removes the line, if there is one.
void clear_status();

/// Removes the line, and shows no other: the answer begins to appear.
void end_status();

/// Writes a sentence of its own line to standard error, where people read it: in place of the status, without controls.
void say(std::string_view sentence);

}  // namespace treeline::text
