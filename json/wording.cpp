#include "json/wording.h"

#include "text/wording.h"

namespace treeline::json {

using Json = nlohmann::ordered_json;

std::string shown(const Json& value, std::size_t longest) {
    if (value.is_object()) {
        return "an object";
    }
    if (value.is_array()) {
        return "an array";
    }
    return text::shortened(value.dump(-1, ' ', false, Json::error_handler_t::replace), longest);
}

std::string shown_key(std::string_view key) {
    const std::string quoted = Json(key).dump(-1, ' ', false, Json::error_handler_t::replace);
    return text::shortened(quoted.substr(1, quoted.size() - 2), 60);
}

}  // namespace treeline::json
