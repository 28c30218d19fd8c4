#include "library/handed_over.h"

#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

#include "json/parse.h"
#include "requests/file_kind.h"
#include "requests/loop/import_request.h"
#include "runs/own_file.h"
#include "text/input_error.h"

namespace treeline {
namespace {

using Json = nlohmann::ordered_json;
using requests::FileKind;

/// Of the name's last part, what a file may be called everywhere; it ends as the readers know a path (".json").
std::string file_name(const std::string& name) {
    std::string kept = name.substr(name.find_last_of("/\\") + 1);
    std::replace_if(
        kept.begin(), kept.end(), [](char c) { return std::string_view("\"'<>|:*?\n\r\t ").find(c) != std::string_view::npos; },
        '-');
    if (kept.find_first_not_of('.') == std::string::npos) {
        throw text::InputError({"a file needs a name"});
    }
    return kept.ends_with(".json") ? kept : kept + ".json";
}

void keep(const std::filesystem::path& file, const std::string& text) {
    std::ofstream out(file, std::ios::binary);
    out << text;
    if (!out.flush()) {
        throw text::InputError({"the file cannot be kept"});
    }
}

Json kept(const char* kind, const std::string& name, const std::string& text, const std::filesystem::path& folder) {
    keep(folder / name, text);
    return {{"kind", kind}, {"name", name}, {"text", text}};
}

/// A checkpoint's config.json is called after the checkpoint, where it says which that is: answers show the name.
std::string config_name(const Json& config, const std::string& file) {
    const Json stated = config.value("_name_or_path", Json());
    const std::string path = stated.is_string() ? stated.get<std::string>() : "";
    return file != "config.json" ? file : file_name(path.empty() ? "own-model" : path);
}

/// A log, or what a benchmark wrote, as the run that it describes.
Json measured(const std::string& name, const std::string& text, const std::filesystem::path& folder) {
    const std::filesystem::path file = folder / (name + ".handed-over");
    keep(file, text);
    struct Removed {
        const std::filesystem::path& file;
        ~Removed() {
            std::error_code ignored;
            std::filesystem::remove(file, ignored);
        }
    } const removed{file};
    return kept("run", name, runs::run_json(requests::import_requested({file.string()}, {})).dump(1) + "\n", folder);
}

}  // namespace

Json handed_over(const std::string& name, const std::string& text, const std::filesystem::path& folder) {
    const std::string file = file_name(name);
    const std::optional<Json> tree = json::parse_foreign<Json>(text);
    switch (tree && tree->is_object() ? requests::kind_of(*tree) : FileKind::unknown) {
        case FileKind::workload:
            return {{"kind", "workload"}, {"name", file}, {"question", *tree}};
        case FileKind::result:
            if (tree->contains("input") && requests::kind_of(tree->at("input")) == FileKind::workload) {
                return {{"kind", "workload"}, {"name", file}, {"question", tree->at("input")}};
            }
            throw text::InputError({name + ": is an answer of Treeline, but not one of `treeline recommend`"});
        case FileKind::hugging_face:
            return kept("model", config_name(*tree, file), text, folder);
        case FileKind::model:
            return kept("model", file, text, folder);
        case FileKind::device:
            return kept("device", file, text, folder);
        default:
            return measured(file, text, folder);
    }
}

}  // namespace treeline
