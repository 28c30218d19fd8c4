// Reads `treeline study policies`.
#pragma once

#include "requests/descriptions.h"
#include "sweeps/adaptive/policies.h"

namespace treeline::requests {

/// Prices chains of 0 to `longest` drafts at every batch. Throws InputError.
sweeps::PoliciesInput read_policies(json::Document& document, Descriptions& descriptions);

}  // namespace treeline::requests
