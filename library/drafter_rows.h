// Published drafters as lists show them.
#pragma once

#include <vector>

#include "reports/catalogue/models_output.h"
#include "requests/descriptions.h"
#include "requests/known_drafters.h"

namespace treeline {

/// As the longest chain that was measured accepts over all kinds of requests.
reports::DrafterRow drafter_row(const requests::PublishedDrafter& drafter, requests::Descriptions& descriptions);

/// Those that are known for a target.
std::vector<reports::DrafterRow> known_drafter_rows(const sim::Model& target, const requests::Catalogue& catalogue);

}  // namespace treeline
