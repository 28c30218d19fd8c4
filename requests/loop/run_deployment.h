// What the files of a run say of the deployment, as keys of a design point that the question leaves open.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "requests/catalogue.h"
#include "runs/run.h"

namespace treeline::requests {

struct PointOfRun {
    nlohmann::ordered_json point;
    /// Which of its keys the run's files gave, and where what was asked for is not what they say, as sentences.
    std::vector<std::string> remarks;
    bool looks_up = false;  ///< drafts are looked up in texts, not made by a model
};

/// `point` with what the run's files say and it does not: model, precision of weights and cache, device, devices, engine, kind
/// of drafter. Where both speak, the point stays as it is, unless one names a look-up and the other
/// a model that drafts: then the files count. A model that the catalogue does not know is not taken over.
PointOfRun point_of_run(const runs::MeasuredRun& run, nlohmann::ordered_json point, const Catalogue& catalogue);

/// The kind of drafter that an engine's method names ("qwen3_next_mtp", "NEXTN", "draft-mtp": mtp); empty where it is none.
std::string drafter_kind_of_method(const std::string& method);

}  // namespace treeline::requests
