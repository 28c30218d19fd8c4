// What a page calls: a question and its answer as JSON texts (treeline/questions.h).
#include <filesystem>
#include <string>

#include "treeline/questions.h"

namespace {

std::string answer;  // of the last call

/// Where files stay that a user hands over, as long as the page is open.
const std::filesystem::path& folder() {
    static const std::filesystem::path made = [] {
        const std::filesystem::path given = "/given";
        std::filesystem::create_directories(given);
        return given;
    }();
    return made;
}

}  // namespace

/// The text lives until the next call.
extern "C" const char* treeline_answer(const char* kind, const char* question) {
    static const treeline::Catalogue catalogue = treeline::installed_catalogue();
    answer = treeline::answer_question(kind, question, catalogue, folder());
    return answer.c_str();
}
