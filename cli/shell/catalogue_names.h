// Names of the catalogue, for completions: which a flag or argument takes, and what they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "requests/catalogue.h"

namespace treeline::cli {

/// The kind of names that a flag ("--target") or the argument of a command ("models NAME") takes; empty for others.
std::string_view kind_of_names(std::string_view flag);

/// All names of a kind, sorted as the catalogue lists them. Throws InputError where there is no such kind.
std::vector<std::string> catalogue_names(std::string_view kind, const requests::Catalogue& catalogue);

}  // namespace treeline::cli
