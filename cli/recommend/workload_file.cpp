#include "cli/recommend/workload_file.h"

#include "cli/common_flags.h"

namespace treeline {

AnsweredFile answer_file(const std::string& file, const Catalogue& catalogue, const std::string& threads) {
    const auto thread_count = static_cast<unsigned>(whole_number("--threads", threads, 0, 1024));
    json::Document document = json::Document::load(file);
    AnsweredFile result;
    result.raw = document.root().raw();
    if (result.raw.is_object() && result.raw.contains("input") && result.raw.value("format", "") == "treeline-recommendation") {
        result.raw = nlohmann::ordered_json(result.raw["input"]);
        document = json::Document::parse(result.raw.dump(), file);
    }
    Descriptions descriptions(catalogue, std::filesystem::path(file).parent_path());
    result.answer = answer(read_workload(document, descriptions), thread_count);
    return result;
}

}  // namespace treeline
