// What launchers put before a line of a log, and what they mean: which of several processes wrote it.
#pragma once

#include <string>
#include <string_view>

namespace treeline::runs {

/// Whether a file that begins with this line is JSON and not a log. Launchers put bracketed ranks, ports and dates before lines
/// ("[0] ", "[40123] ", "[2026-03-02 11:00:00 DP0 TP0] "); every JSON list that is read holds objects.
bool starts_as_json(std::string_view first_line);

/// The process of a deployment that wrote a line, as far as its prefix tells it: a rank or port in brackets, a container before
/// a bar ("vllm-1  | "), "pid=10", the data-parallel rank of SGLang's stamp. Lines of one process have the same.
std::string stream_of(std::string_view line);

/// The line without such a prefix, marks of quotation and blanks around it.
std::string_view without_prefix(std::string_view line);

/// The line from a label on, whatever a launcher put before it; empty where the label is absent, or part of a longer word.
std::string_view from_label(std::string_view line, std::string_view label);

/// The JSON object that a line holds after a prefix; empty if it holds none.
std::string_view json_of_line(std::string_view line);

/// Braces that a line opens less those that it closes, outside of texts.
long opened_braces(std::string_view line);

}  // namespace treeline::runs
