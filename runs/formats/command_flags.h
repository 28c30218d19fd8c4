// Internal to the formats: what a command that starts a server, or a local generator, says of its deployment.
#pragma once

#include <string>
#include <string_view>

#include "runs/run.h"

namespace treeline::runs::run_formats_of {

/// The engine whose program a line of a shell starts ("llama-server -m x.gguf"); empty where it starts none.
std::string engine_of_command(std::string_view line);

/// Model, drafter, method and ranks by the flags on a line of such a command. "-m" is the model of llama.cpp's programs alone.
RunIdentity identity_of_flags(std::string_view line, const std::string& engine);

}  // namespace treeline::runs::run_formats_of
