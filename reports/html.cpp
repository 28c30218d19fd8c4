#include "reports/html.h"

#include <stdexcept>
#include <string_view>

#include <nlohmann/json.hpp>

// The page that reports/page/build.mjs makes, linked in by treeline_embed_file (cmake/EmbedFile.cmake).
extern "C" const char treeline_report_page_begin[];
extern "C" const char treeline_report_page_end[];

namespace treeline::reports {
namespace {

constexpr std::string_view kTitleSlot = "<!--treeline:title-->";
constexpr std::string_view kDataSlot = "<!--treeline:data-->";

std::string_view page() {
    return {treeline_report_page_begin, static_cast<std::size_t>(treeline_report_page_end - treeline_report_page_begin)};
}

void require_text(const nlohmann::json& object, const char* key, const char* shown_as) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    if (!object.is_object() || found == object.end() || !found->is_string()) {
        throw std::invalid_argument(std::string("The report data need a text named ") + shown_as + ".");
    }
}

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

/// JSON that cannot leave a <script> element: the five characters below occur inside strings only, where JSON allows an escape.
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

}  // namespace

std::string render_html(const nlohmann::json& data) {
    require_text(data, "title", "title");
    require_text(data.value("summary", nlohmann::json::object()), "sentence", "summary.sentence");

    const std::string_view whole = page();
    const std::size_t title_at = whole.find(kTitleSlot);
    const std::size_t data_at = whole.find(kDataSlot);
    if (title_at == std::string_view::npos || data_at == std::string_view::npos || data_at < title_at) {
        throw std::logic_error("The embedded report page lacks a slot.");
    }

    // The title goes through JSON once, so that bytes that are not UTF-8 are replaced there too.
    const std::string title =
        nlohmann::json::parse(data["title"].dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    std::string out(whole.substr(0, title_at));
    out += escaped_text(title);
    out += whole.substr(title_at + kTitleSlot.size(), data_at - title_at - kTitleSlot.size());
    out += escaped_json(data);
    out += whole.substr(data_at + kDataSlot.size());
    return out;
}

}  // namespace treeline::reports
