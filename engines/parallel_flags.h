// How engines are told to share a model out over devices, and which kernels to run there.
#pragma once

#include <string>
#include <string_view>

#include "engines/engine.h"
#include "sim/platform.h"

namespace treeline::engines {

/// Why this engine cannot share a model so while this kind of drafter runs, as the end of a sentence about it; empty if it can.
std::string parallel_problem(const Engine& engine, DrafterKind drafter, const sim::Platform& platform);

/// Whether requests are spread over groups of their own: engines then drop schedules by batch.
inline bool has_groups(const sim::Platform& platform) { return platform.parallel.data > 1.0; }

/// "NAME N " if the degree is above one.
std::string degree_flag(const char* name, double degree, const char* between = " ", const char* after = " ");

/// The flags of kernels that the user picked, with a blank after each, and the variables that say it where a version has no
/// flag.
std::string kernel_flags(const Engine& engine, const sim::Platform& platform);
std::string kernel_variables(const Engine& engine, const sim::Platform& platform);

}  // namespace treeline::engines
