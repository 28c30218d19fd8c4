// A measured load as a point of the cost model.
#pragma once

#include "calibrate/serving_rows.h"
#include "calibrate/stack_fit.h"
#include "requests/point_reader.h"

namespace treeline {

/// What `point` describes (model, platform, drafter), at the row's batch, context, draft tokens and accept length. Throws
/// InputError in terms of "flags".
PointInput read_served(const ServingRow& row, const nlohmann::ordered_json& point, Descriptions& descriptions);

/// The row under the rollback policy and way of verifying that are fastest there.
MeasuredStep measured_step(const ServingRow& row, const PointInput& input);

}  // namespace treeline
