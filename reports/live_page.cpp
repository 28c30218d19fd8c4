#include "reports/live_page.h"

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

}  // namespace

bool has_live_page() { return live_page().starts_with("<!doctype html>"); }

std::string render_live_page(const nlohmann::json& start) { return with_data(live_page(), start.at("title"), start); }

}  // namespace treeline::reports
