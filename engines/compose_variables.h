// Variables in files of Docker Compose.
#pragma once

#include <nlohmann/json.hpp>

namespace treeline::engines {

/// Puts in, in all texts of a file of Docker Compose (it has "services"), what Compose puts in before a container sees them:
/// the default of "${NAME:-default}" and "${NAME-default}", and "$" for "$$". Variables without a default stay as they are
/// written, as the environment that sets them is not given. Other trees stay as they are.
void put_compose_variables_in(nlohmann::ordered_json& tree);

}  // namespace treeline::engines
