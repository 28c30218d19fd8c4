#include "reports/live_page.h"

#include <stdexcept>
#include <string_view>

#include <nlohmann/json.hpp>

#include "reports/page_slots.h"

// The page that reports/page/build.mjs makes with the module, or a note that there is none (reports/CMakeLists.txt).
extern "C" const char treeline_live_page_begin[];
extern "C" const char treeline_live_page_end[];

namespace treeline::reports {
namespace {

std::string_view live_page() {
    return {treeline_live_page_begin, static_cast<std::size_t>(treeline_live_page_end - treeline_live_page_begin)};
}

constexpr std::string_view policy_begin = "Content-Security-Policy\" content=\"", scripts_begin = "script-src ",
                           element_after = "<pre id=\"licences\"";

/// What stands between `begin` and the next `end` of a page that has both.
std::string_view between(std::string_view page, std::string_view begin, char end) {
    const std::size_t at = page.find(begin);
    const std::size_t stop = at == std::string_view::npos ? at : page.find(end, at + begin.size());
    if (stop == std::string_view::npos) {
        throw std::logic_error("The embedded page lacks " + std::string(begin));
    }
    return page.substr(at + begin.size(), stop - at - begin.size());
}

std::string_view scripts_of(std::string_view page) { return between(between(page, policy_begin, '"'), scripts_begin, ';'); }

}  // namespace

bool has_live_page() { return live_page().starts_with("<!doctype html>"); }

std::string render_live_page(const nlohmann::json& start) { return with_data(live_page(), start.at("title"), start); }

std::string with_live_page(const std::string& report, const std::string& live_page) {
    const std::string_view page = report, own = scripts_of(page);
    const std::size_t scripts = static_cast<std::size_t>(own.data() - page.data()), element = page.find(element_after);
    if (element == std::string_view::npos || element < scripts) {
        throw std::logic_error("The embedded page lacks its licences");
    }
    std::string out(page.substr(0, scripts + own.size()));
    out += " " + std::string(scripts_of(live_page)) + "; worker-src blob:; frame-src blob:";
    out += page.substr(scripts + own.size(), element - scripts - own.size());
    out += "<script type=\"application/json\" id=\"live-page\">" + escaped_json(live_page) + "</script>\n";
    return out + std::string(page.substr(element));
}

}  // namespace treeline::reports
