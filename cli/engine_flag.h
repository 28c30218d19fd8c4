// --engine of `recommend` and `report`.
#pragma once

#include <string>
#include <vector>

#include "engines/engine.h"

namespace CLI {
class App;
}

namespace treeline::cli {

/// --engine, which may be given several times.
void add_engine_flag(CLI::App& app, std::vector<std::string>& engines);

/// The engines that --engine names, or all at their newest versions if it was not given. Throws InputError.
std::vector<engines::Engine> chosen_engines(const std::vector<std::string>& names);

}  // namespace treeline::cli
