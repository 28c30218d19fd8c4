#include "library/handed_over.h"

#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

#include "json/parse.h"
#include "requests/acceptance/acceptance_file.h"
#include "requests/file_kind.h"
#include "runs/own_file.h"
#include "runs/run.h"
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

/// A log, or what a benchmark wrote, as the run that it describes: one that counted how many drafts were accepted. `given`:
/// what the user calls the file.
Json measured(const std::string& given, const std::string& name, const std::string& text, const std::filesystem::path& folder) {
    const runs::MeasuredRun run = runs::import_run_text(text, given);
    requests::acceptance_file::counted_run(run, given);  // throws where it measured no acceptance
    return kept("run", name, runs::run_json(run).dump(1) + "\n", folder);
}

/// The question whose answer is about a design point: the same keys, in the places that a workload has for them.
Json question_of_point(const Json& point) {
    Json question = Json::object();
    for (const char* key : {"title", "target", "draft_tokens", "verification", "rollback", "decoding", "prompt_tokens",
                            "output_tokens", "prefix_hit", "shared_prefix", "expert_pool"}) {
        if (point.contains(key)) {
            question[key] = point.at(key);
        }
    }
    question["platforms"] = Json::array({point.at("platform")});
    question["drafters"] = point.contains("drafter") ? Json::array({point.at("drafter")}) : Json::array();
    if (point.contains("shape")) {
        question["shapes"] = Json::array({point.at("shape")});
    }
    for (const char* key : {"batch", "concurrency", "arrival_rate", "context"}) {
        if (point.contains(key)) {
            question["traffic"][key] = Json::array({point.at(key)});
        }
    }
    return question;
}

/// Of a file that is none of those that a page takes: what it is and which command takes it, if that is known.
Json other_file(const std::string& given, const std::string& name, const std::string& text, const std::optional<Json>& tree,
                const std::filesystem::path& folder) {
    try {
        return measured(given, name, text, folder);
    } catch (const runs::UnknownFormat& unknown) {
        const std::string other =
            tree && tree->is_object() ? requests::other_kind(*tree, given, {FileKind::workload}) : std::string();
        throw text::InputError(
            {given + ": " +
             (!other.empty() ? other
                             : (unknown.why().empty() ? "" : unknown.why() + "; ") +
                                   "is no log, no result of a benchmark, no config of a model, no device and no "
                                   "question that is read here (docs/loop.md lists the formats)")});
    }
}

}  // namespace

Json handed_over(const std::string& name, const std::string& text, const std::filesystem::path& folder) {
    const std::string file = file_name(name);
    const std::optional<Json> tree = json::parse_foreign<Json>(text);
    switch (tree && tree->is_object() ? requests::kind_of(*tree) : FileKind::unknown) {
        case FileKind::workload:
            return {{"kind", "workload"}, {"name", file}, {"question", *tree}};
        case FileKind::point:
            return {{"kind", "workload"}, {"name", file}, {"question", question_of_point(*tree)}};
        case FileKind::result:
            if (tree->contains("input")) {
                switch (requests::kind_of(tree->at("input"))) {
                    case FileKind::workload:
                        return {{"kind", "workload"}, {"name", file}, {"question", tree->at("input")}};
                    case FileKind::point:
                        return {{"kind", "workload"}, {"name", file}, {"question", question_of_point(tree->at("input"))}};
                    default:
                        break;
                }
            }
            throw text::InputError({name + ": is an answer of Treeline, but of neither recommend nor estimate"});
        case FileKind::hugging_face:
            return kept("model", config_name(*tree, file), text, folder);
        case FileKind::model:
            return kept("model", file, text, folder);
        case FileKind::device:
            return kept("device", file, text, folder);
        default:
            return other_file(name, file, text, tree, folder);
    }
}

}  // namespace treeline
