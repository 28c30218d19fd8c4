// Reads `treeline study policies`.
#pragma once

#include "requests/descriptions.h"
#include "sweeps/adaptive/policies.h"

namespace treeline {

/// Prices chains of 0 to `longest` drafts at every batch. Throws InputError.
PoliciesInput read_policies(json::Document& document, Descriptions& descriptions);

}  // namespace treeline
