// What each kind of drafter reads (drafter_keys::kinds).
#pragma once

#include <string>

#include "requests/descriptions.h"
#include "sim/drafters/drafter.h"

namespace treeline::requests {

/// The drafter of this kind, without its acceptance. `label` is set where a kind has a better one than its name.
sim::Drafter read_drafter_kind(json::Reader& at, const std::string& kind, Descriptions& descriptions, std::string& label);

}  // namespace treeline::requests
