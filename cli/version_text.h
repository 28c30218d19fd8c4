#pragma once

#include <string>

namespace treeline::cli {

/// Version, parts of this build (cmake/TreelineParts.cmake), and the date of the last change of the catalogue that it carries.
std::string version_text();

}  // namespace treeline::cli
