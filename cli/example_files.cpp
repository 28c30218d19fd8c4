#include "cli/example_files.h"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "text/catalogue_folder.h"
#include "text/input_error.h"
#include "text/input_file.h"

namespace treeline::cli {
namespace {

using Json = nlohmann::ordered_json;
using Path = std::filesystem::path;

/// Every text in a tree.
void collect_texts(const Json& tree, std::vector<std::string>& texts) {
    if (tree.is_string()) {
        texts.push_back(tree.get<std::string>());
    }
    if (tree.is_structured()) {
        for (const Json& part : tree) {
            collect_texts(part, texts);
        }
    }
}

void collect_named(const Path& example, const Path& beside, const std::vector<Path>& files, std::set<Path>& named) {
    std::vector<std::string> texts;
    collect_texts(Json::parse(text::read_file(example), nullptr, false), texts);
    for (const std::string& text : texts) {
        const Path file = (example.parent_path() / text).lexically_normal();
        const bool is_example = std::find(files.begin(), files.end(), file) != files.end();
        if (is_example && file != example && named.insert(file.lexically_relative(beside)).second) {
            collect_named(file, beside, files, named);
        }
    }
}

}  // namespace

Path examples_folder(const requests::Catalogue& catalogue) {
    const Path folder = catalogue.models.parent_path() / "examples";
    if (!text::is_folder(folder)) {
        throw text::InputError({"examples: there are none beside the catalogue in " + folder.parent_path().string()});
    }
    return folder;
}

std::vector<Path> example_files(const requests::Catalogue& catalogue) {
    std::vector<Path> files = text::files_below(examples_folder(catalogue));
    std::erase_if(files, [](const Path& file) { return file.extension() != ".json" && file.extension() != ".csv"; });
    return files;
}

std::string name_of_example(const Path& file, const Path& folder) {
    const std::string name = file.lexically_relative(folder).generic_string();
    return name.ends_with(".json") ? name.substr(0, name.size() - 5) : name;
}

std::vector<std::string> example_names(const requests::Catalogue& catalogue) {
    const Path folder = examples_folder(catalogue);
    std::vector<std::string> names;
    for (const Path& file : example_files(catalogue)) {
        names.push_back(name_of_example(file, folder));
    }
    return names;
}

std::vector<Path> files_named_in(const Path& example, const std::vector<Path>& files) {
    std::set<Path> named;
    if (example.extension() == ".json") {
        collect_named(example, example.parent_path(), files, named);
    }
    return {named.begin(), named.end()};
}

}  // namespace treeline::cli
