// Values that a text leaves open: what a shell, or printf, has yet to put in.
#pragma once

#include <string>
#include <string_view>

namespace treeline::engines {

/// Whether a value stands for another that is not given: "$N", "${N}", "$(...)", "%d".
bool is_unknown_value(std::string_view value);

/// JSON in which such a value outside quotes is a text, and quotes of a shell within a text are its own.
std::string with_unknown_values_as_texts(std::string_view json);

/// YAML in which "${NAME...}", whose brackets and commas YAML would read, is "$NAME".
std::string with_short_variables(std::string_view yaml);

}  // namespace treeline::engines
