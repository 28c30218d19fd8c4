// What the server answers over HTTP, as OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.0).
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace treeline::serve {

/// Bodies are those of the key tables (requests/keys).
nlohmann::ordered_json openapi();

}  // namespace treeline::serve
