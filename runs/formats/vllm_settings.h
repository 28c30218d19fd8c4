// Internal to the log of vLLM: what its start says about the deployment.
#pragma once

#include <string_view>

#include "runs/builder.h"

namespace treeline::runs::run_formats_of {

/// Whether the line says how the engine runs: its arguments, its graphs, its attention, its scheduler.
bool take_vllm_settings(std::string_view line, RunBuilder& run);

}  // namespace treeline::runs::run_formats_of
