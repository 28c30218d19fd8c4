#include "reports/html.h"

#include <stdexcept>
#include <string_view>

#include <nlohmann/json.hpp>

#include "reports/page_slots.h"

// The page that reports/page/build.mjs makes, linked in by treeline_embed_file (cmake/EmbedFile.cmake).
extern "C" const char treeline_report_page_begin[];
extern "C" const char treeline_report_page_end[];

namespace treeline::reports {
namespace {

std::string_view page() {
    return {treeline_report_page_begin, static_cast<std::size_t>(treeline_report_page_end - treeline_report_page_begin)};
}

void require_text(const nlohmann::json& object, const char* key, const char* shown_as) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    if (!object.is_object() || found == object.end() || !found->is_string()) {
        throw std::invalid_argument(std::string("The report data need a text named ") + shown_as + ".");
    }
}

}  // namespace

std::string render_html(const nlohmann::json& data) {
    require_text(data, "title", "title");
    require_text(data.value("summary", nlohmann::json::object()), "sentence", "summary.sentence");
    return with_data(page(), data["title"], data);
}

}  // namespace treeline::reports
