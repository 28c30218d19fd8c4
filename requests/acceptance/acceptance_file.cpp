#include "requests/acceptance/acceptance_file.h"

#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/wording.h"
#include "text/input_error.h"

namespace treeline::requests {
namespace {

using acceptance_file::FileJson;

/// The text as JSON: one value, or one object a line; nothing where it is neither.
std::vector<FileJson> json_values(const std::string& text) {
    if (FileJson whole = FileJson::parse(text, nullptr, false); !whole.is_discarded()) {
        return {std::move(whole)};
    }
    std::vector<FileJson> values;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) {
            continue;
        }
        FileJson value = FileJson::parse(line, nullptr, false);
        if (!value.is_object()) {
            return {};
        }
        values.push_back(std::move(value));
    }
    return values;
}

std::vector<FileJson> objects_in(const std::vector<FileJson>& values) {
    std::vector<FileJson> objects;
    for (const FileJson& value : values) {
        if (value.is_array()) {
            objects.insert(objects.end(), value.begin(), value.end());
        } else {
            objects.push_back(value);
        }
    }
    return objects;
}

}  // namespace

const std::vector<sim::MeasuredAcceptance>& AcceptanceFile::of(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& [model, rows] : models) {
        if (model == name || (name.empty() && models.size() == 1)) {
            return rows;
        }
        names.push_back(model);
    }
    throw text::InputError({name.empty() ? fmt::format("holds {}: say which with \"of\"", text::listed(names, "and"))
                                         : fmt::format("holds {}, not \"{}\"{}", text::listed(names, "and"), name,
                                                       text::did_you_mean(name, names))});
}

AcceptanceFile acceptance_file_of(const std::string& text, const std::string& name) {
    const std::vector<FileJson> values = json_values(text);
    std::optional<AcceptanceFile> found;
    if (!values.empty()) {
        found = acceptance_file::speculation_profile(values.front(), name);
        found = found ? found : acceptance_file::rank_vector(values.front(), name);
        found = found ? found : acceptance_file::histograms(objects_in(values), name);
    } else {
        found = acceptance_file::acceptance_table(text, name);
        found = found ? found : acceptance_file::golden_curves(text, name);
    }
    if (!found) {
        throw text::InputError({fmt::format(
            "{}: is none of the files with measured acceptance that Treeline reads: InferenceX golden curves (YAML), a "
            "speculation_profile.json, speculators' acceptance.csv, acceptance histograms of requests, a vector by child rank",
            name)});
    }
    return *found;
}

AcceptanceFile read_acceptance_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) {
        throw text::InputError({fmt::format("{}: cannot be read", path.string())});
    }
    return acceptance_file_of(text.str(), path.filename().string());
}

}  // namespace treeline::requests
