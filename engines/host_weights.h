// How engines keep weights in the host's memory where a device has no room for them.
#pragma once

#include <optional>
#include <string>

#include "engines/engine.h"
#include "sim/placement.h"

namespace treeline::engines {

/// What makes a point fit whose device lacks memory, as sentences that begin with a blank. `too_much` is what one device lacks,
/// `on_host` what `placement`, which frees that, puts into the host's memory. Without an engine, and for llama.cpp: the flag
/// that prices the placement. Of other engines: their own flags, and whether those are what a placement prices.
std::string way_to_fit(const std::optional<Engine>& engine, const sim::Placement& placement, Bytes too_much, Bytes on_host);

/// "--placement experts:33".
std::string placement_flag(const sim::Placement& placement);
/// What the host holds and computes, without the full stop.
std::string computed_there(const sim::Placement& placement, Bytes on_host);
/// Of vLLM and SGLang, which read such weights over the link in every step.
std::string offload_flag(Bytes too_much);

}  // namespace treeline::engines
