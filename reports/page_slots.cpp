#include "reports/page_slots.h"

#include <stdexcept>

#include <nlohmann/json.hpp>

namespace treeline::reports {
namespace {

constexpr std::string_view kTitleSlot = "<!--treeline:title-->";
constexpr std::string_view kDataSlot = "<!--treeline:data-->";

std::string escaped_text(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

}  // namespace

/// The characters below occur inside strings only, where JSON allows an escape.
/// This covers
/// </script, <!--, ]]> and character references. (U+2028 and U+2029, line ends to old JavaScript parsers, are escaped as well.)
std::string escaped_json(const nlohmann::json& data) {
    const std::string plain = data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    std::string out;
    out.reserve(plain.size() + plain.size() / 16);
    for (std::size_t i = 0; i < plain.size(); ++i) {
        const std::string_view rest = std::string_view(plain).substr(i);
        if (rest.substr(0, 3) == "\xE2\x80\xA8" || rest.substr(0, 3) == "\xE2\x80\xA9") {
            out += rest[2] == '\xA8' ? "\\u2028" : "\\u2029";
            i += 2;
            continue;
        }
        switch (plain[i]) {
            case '<':
                out += "\\u003c";
                break;
            case '>':
                out += "\\u003e";
                break;
            case '&':
                out += "\\u0026";
                break;
            default:
                out += plain[i];
        }
    }
    return out;
}

std::string with_data(std::string_view page, const nlohmann::json& title, const nlohmann::json& data) {
    const std::size_t title_at = page.find(kTitleSlot);
    const std::size_t data_at = page.find(kDataSlot);
    if (title_at == std::string_view::npos || data_at == std::string_view::npos || data_at < title_at) {
        throw std::logic_error("The embedded page lacks a slot.");
    }

    // The title goes through JSON once, so that bytes that are not UTF-8 are replaced there too.
    const std::string text = nlohmann::json::parse(title.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    std::string out(page.substr(0, title_at));
    out += escaped_text(text);
    out += page.substr(title_at + kTitleSlot.size(), data_at - title_at - kTitleSlot.size());
    out += escaped_json(data);
    out += page.substr(data_at + kDataSlot.size());
    return out;
}

}  // namespace treeline::reports
