// The Model Context Protocol over standard input and output: one message a line.
#pragma once

#include <istream>
#include <ostream>

#include "serve/questions.h"

namespace treeline::serve {

inline constexpr std::size_t longest_message = 1u << 20;  ///< bytes

/// Answers until `in` ends. A longer message is refused without being kept.
void serve_messages(std::istream& in, std::ostream& out, Setting setting);

}  // namespace treeline::serve
