// A measured load as a point of the cost model.
#pragma once

#include "calibrate/serving_rows.h"
#include "calibrate/stack_fit.h"
#include "requests/point_reader.h"

namespace treeline::requests {

/// What `point` describes (model, platform, drafter), at the row's batch, context, draft tokens and accept length. Throws
/// InputError in terms of "flags".
sweeps::PointInput read_served(const calibrate::ServingRow& row, const nlohmann::ordered_json& point,
                               Descriptions& descriptions);

/// The row under the rollback policy and way of verifying that are fastest there.
calibrate::MeasuredStep measured_step(const calibrate::ServingRow& row, const sweeps::PointInput& input);

}  // namespace treeline::requests
