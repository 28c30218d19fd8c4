// What the answer to a question depends on, as hashes.
#pragma once

#include <string>
#include <vector>

#include "requests/catalogue.h"
#include "sweeps/design_space.h"
#include "text/provenance.h"

namespace treeline::store {

/// Of every description of models and hardware.
std::string catalogue_hash(const requests::Catalogue& catalogue);

/// Of what the inputs say they come from, and of figures at a few points of every variant: changes with anything that changes a
/// price, wherever it was described.
std::string fingerprint_of(const std::vector<text::Provenance>& provenance, const sweeps::DesignSpace& space);

}  // namespace treeline::store
