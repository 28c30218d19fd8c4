// One design point: what a round of speculation costs, operation by operation, and what it gains over plain decoding.
//
// docs/inputs.md explains the keys of a point; sweeps/estimate.h the fields of an estimate. Functions throw InputError with
// every problem of the input.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "sweeps/estimate.h"
#include "treeline/catalogue.h"

namespace treeline {

using sim::RoundEstimate;
using sim::Speculation;
using sweeps::PointEstimate;
using sweeps::PointInput;

struct EstimateAnswer : sweeps::PointEstimate {
    /// The point as its file has it, which as_json() repeats under "input"; null where it was made of structs.
    std::shared_ptr<const nlohmann::ordered_json> point_json;
};

/// The estimate of the point in a file, or of the one that an earlier estimate's JSON repeats. Paths in it are relative to its
/// folder.
EstimateAnswer estimate_file(const std::filesystem::path& file, const requests::Catalogue& catalogue = installed_catalogue());
/// The same from JSON text; paths in it are relative to `folder`.
EstimateAnswer estimate_json(std::string_view text, const requests::Catalogue& catalogue = installed_catalogue(),
                             const std::filesystem::path& folder = {});
/// The estimate of a point of structs.
EstimateAnswer estimate(sweeps::PointInput input);

/// `explain`: sections to show behind the first screen, between commas, or "all" (`treeline estimate --explain`).
std::string as_table(const EstimateAnswer& answer, const std::optional<std::string>& explain = {});
/// Format "treeline-estimate": times in ms and µs, memory in GB, energy in J.
std::string as_json(const EstimateAnswer& answer);
/// One line an operation.
std::string as_csv(const EstimateAnswer& answer);

}  // namespace treeline
