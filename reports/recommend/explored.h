// What the live page shows of an answer.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/acceptance.h"
#include "sweeps/recommend_answer.h"

namespace treeline::reports {

/// P(the first i drafts are all accepted), i = 1, 2, …, as far as it was measured; of a rate or a mean length for as many
/// drafts as are tried where nothing says how far a drafter reaches.
nlohmann::ordered_json positions_json(const sim::Acceptance& chain);

/// {"page": the data of a report without its studies, "drafters": [{"label", "text", "source", "per_position"}] as priced}.
nlohmann::ordered_json explored_json(const sweeps::Answer& answer);

}  // namespace treeline::reports
