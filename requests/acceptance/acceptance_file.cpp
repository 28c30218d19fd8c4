#include "requests/acceptance/acceptance_file.h"

#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/parse.h"
#include "json/wording.h"
#include "text/file_roles.h"
#include "text/input_error.h"

namespace treeline::requests {
namespace {

using acceptance_file::FileJson;

/// Files that only state acceptance are small; a longer file is a log or a record of many requests.
constexpr std::size_t longest_statement = 1u << 20;

/// A file that states acceptance without counting rounds; nothing where it is of another kind.
std::optional<AcceptanceFile> statement(const std::string& text, const std::string& name) {
    if (text.size() > longest_statement) {
        return std::nullopt;
    }
    if (const std::optional<FileJson> json = json::parse_foreign<FileJson>(text)) {
        std::optional<AcceptanceFile> found = acceptance_file::speculation_profile(*json, name);
        return found ? found : acceptance_file::rank_vector(*json, name);
    }
    std::optional<AcceptanceFile> found = acceptance_file::acceptance_table(text, name);
    return found ? found : acceptance_file::golden_curves(text, name);
}

/// `import` reads the run.
template <class Import>
AcceptanceFile of_run(const std::string& name, Import import) {
    try {
        return acceptance_file::counted_run(import(), name);
    } catch (const runs::UnknownFormat&) {
        throw text::InputError({fmt::format(
            "{}: is none of the files with measured acceptance that Treeline reads: InferenceX golden curves (YAML), a "
            "speculation_profile.json, speculators' acceptance.csv, a vector by child rank, or a run (treeline import)",
            name)});
    }
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
    const std::optional<AcceptanceFile> stated = statement(text, name);
    return stated ? *stated : of_run(name, [&] { return runs::import_run_text(text, name); });
}

AcceptanceFile read_acceptance_file(const std::filesystem::path& path) {
    const std::string name = path.filename().string();
    std::ifstream file(path, std::ios::binary);
    std::string start(longest_statement + 1, '\0');
    file.read(start.data(), static_cast<std::streamsize>(start.size()));
    if (!file.is_open() || file.bad()) {
        throw text::InputError({fmt::format("{}: cannot be read", path.string())});
    }
    text::note_input(path);
    start.resize(static_cast<std::size_t>(file.gcount()));
    const std::optional<AcceptanceFile> stated = statement(start, name);
    return stated ? *stated : of_run(name, [&] { return runs::import_runs({path.string()}); });
}

}  // namespace treeline::requests
