#include "library/live_question.h"

#include <vector>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/live_page.h"
#include "requests/descriptions.h"
#include "text/input_error.h"

namespace treeline {
namespace {

using Json = nlohmann::ordered_json;

/// Names of files in the question.
void find_files(const Json& value, std::vector<std::string>& files) {
    if (value.is_string() && requests::looks_like_path(value.get<std::string>()) &&
        value.get<std::string>().ends_with(".json")) {
        files.push_back(value);
    }
    if (value.is_structured()) {
        for (const Json& part : value) {
            find_files(part, files);
        }
    }
}

}  // namespace

void require_live_question(const std::string& asked_by, const Json& question) {
    if (question.at("platforms").is_array() && question.at("platforms").size() > 1) {
        throw text::InputError({asked_by + ": a page is about one platform; name one, and pin it there beside others"});
    }
    std::vector<std::string> files;
    find_files(question, files);
    if (!files.empty()) {
        throw text::InputError(
            {fmt::format("{}: a page cannot read \"{}\"; drop the file onto it instead", asked_by, files.front())});
    }
}

void require_live_page() {
    if (!reports::has_live_page()) {
        throw text::InputError(
            {"this program was built without the live page (wasm/README.md); `treeline report` writes a page "
             "of one answer"});
    }
}

}  // namespace treeline
