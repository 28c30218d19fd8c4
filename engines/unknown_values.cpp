#include "engines/unknown_values.h"

#include <algorithm>
#include <cctype>

#include <nlohmann/json.hpp>

#include "engines/shell_variables.h"

namespace treeline::engines {
namespace {

std::string as_json_text(std::string_view text) {
    return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Where a value that begins with "$" or "%" ends.
std::size_t end_of_value(std::string_view json, std::size_t at) {
    const std::size_t end = json[at] == '$' ? end_of_shell_expansion(json, at, false) : at + 1;
    return std::min(json.find_first_of(",}] \t\r\n", end), json.size());
}

}  // namespace

bool is_unknown_value(std::string_view value) {
    return value.size() > 1 && (value.front() == '$' || (value.front() == '%' && value.size() < 6));
}

std::string with_unknown_values_as_texts(std::string_view json) {
    std::string result;
    bool in_text = false;
    for (std::size_t at = 0; at < json.size();) {
        const char c = json[at];
        const std::size_t end = c != '$' && (in_text || c != '%') ? at + 1
                                : in_text                         ? end_of_shell_expansion(json, at, true)
                                                                  : end_of_value(json, at);
        if (end > at + 1) {
            const std::string text = as_json_text(json.substr(at, end - at));
            result += in_text ? text.substr(1, text.size() - 2) : text;
            at = end;
        } else if (in_text && c == '\\') {
            result += json.substr(at, 2);
            at += 2;
        } else {
            in_text = (c == '"') != in_text;
            result += c;
            ++at;
        }
    }
    return result;
}

std::string with_short_variables(std::string_view yaml) {
    std::string result;
    for (std::size_t at = 0; at < yaml.size();) {
        const bool braces = yaml.substr(at).starts_with("${");
        const std::size_t end = braces ? end_of_shell_expansion(yaml, at, false) : at + 1;
        if (end > at + 2) {
            const auto name = yaml.substr(at + 2, end - at - 3);
            const auto stop = std::find_if(name.begin(), name.end(),
                                           [](unsigned char letter) { return std::isalnum(letter) == 0 && letter != '_'; });
            result += "$" + std::string(name.begin(), stop);
        } else {
            result += yaml[at];
        }
        at = end;
    }
    return result;
}

}  // namespace treeline::engines
