// What of a target lies in the memory of the host, and which host that is.
#pragma once

#include <memory>
#include <string>

#include "json/reader.h"
#include "requests/descriptions.h"
#include "requests/flag_values.h"
#include "sim/model.h"
#include "sim/platform.h"

namespace treeline::requests {

/// Applies "placement" of a target, where it is given.
void read_placement(json::Reader& target, Descriptions& descriptions, sim::Model& model);

/// "experts of 38 layers on the host"; empty where all lies on the device.
std::string placement_text(const sim::Model& model);

/// The CPU of a platform with the engine's own numbers for CPUs.
std::shared_ptr<const sim::Platform> read_host(json::Reader& platform, Descriptions& descriptions);

/// "experts", "experts:38", "weights:12", "gpu-layers:20" or JSON. Throws InputError.
FlagJson placement_of_flag(const std::string& text);

}  // namespace treeline::requests
