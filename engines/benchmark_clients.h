// Clients of benchmarks, which ask a server that runs already and draft nothing themselves, although their commands name an
// engine.
#pragma once

#include <string>

#include "engines/command_line.h"

namespace treeline::engines {

/// Takes the lines of a script that start clients out of it, if others remain. Returns what the client is called where nothing
/// else remains; empty for another text.
std::string take_clients_out(CommandLine& command);

}  // namespace treeline::engines
