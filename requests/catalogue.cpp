#include "requests/catalogue.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <system_error>

#include "json/reader.h"
#include "requests/remembered.h"
#include "text/catalogue_folder.h"

namespace treeline::requests {
namespace {

namespace fs = std::filesystem;

Catalogue within(const fs::path& folder) { return {folder / "models", folder / "hardware"}; }

bool complete(const Catalogue& catalogue) { return text::is_folder(catalogue.models) && text::is_folder(catalogue.hardware); }

/// The catalogue that the environment names, which is used without looking further.
std::optional<Catalogue> of_environment() {
    const char* variable = std::getenv("TREELINE_DATA");
    return variable != nullptr && *variable != '\0' ? std::optional(catalogue_in(variable, "TREELINE_DATA")) : std::nullopt;
}

/// The first complete one of these folders and what the program carries.
std::optional<Catalogue> first_of(std::vector<fs::path> folders) {
    folders.emplace_back(text::builtin_folder);
    for (const fs::path& folder : folders) {
        if (complete(within(folder))) {
            return within(folder);
        }
    }
    return std::nullopt;
}

/// Where a catalogue may lie beside this program: in its folder (a build tree, an unpacked archive) or in its prefix. Where the
/// system does not say where the program is, in the prefix that it was built for.
std::vector<fs::path> folders_beside_program() {
    std::error_code unknown;
    const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
    if (unknown) {
        return {TREELINE_INSTALLED_DATA};
    }
    const fs::path folder = program.parent_path();
    return {folder / "share" / "treeline", folder.parent_path() / "share" / "treeline"};
}

Catalogue found(std::optional<Catalogue> catalogue, const char* what_else) {
    if (!catalogue) {
        throw text::InputError({what_else});
    }
    return std::move(*catalogue);
}

}  // namespace

Catalogue catalogue_in(const fs::path& folder, const std::string& named_by) {
    Catalogue catalogue = within(folder);
    if (!complete(catalogue)) {
        throw text::InputError(
            {named_by + ": " + folder.string() + " does not hold the folders models and hardware of a catalogue"});
    }
    return catalogue;
}

Catalogue find_catalogue(const std::string& flag) {
    const auto find = [&] {
        if (!flag.empty()) {
            return catalogue_in(flag, "--catalogue");
        }
        if (std::optional<Catalogue> named = of_environment()) {
            return *named;
        }
        return found(first_of(folders_beside_program()),
                     "the catalogue of models and hardware was not found; give its folder with --catalogue");
    };
    Catalogue catalogue = find();
    catalogue.remembered = std::make_shared<Remembered>();
    return catalogue;
}

Catalogue catalogue_among(const std::vector<fs::path>& folders) {
    if (std::optional<Catalogue> named = of_environment()) {
        return *named;
    }
    return found(first_of(folders),
                 "the catalogue of models and hardware was not found; give its folder, or set TREELINE_DATA to it");
}

std::vector<text::Provenance> with_known_names(std::vector<text::Provenance> entries, const Catalogue& catalogue,
                                               const std::vector<NamedFile>& files) {
    const std::string folder = (catalogue.models.parent_path() / "").string();
    for (text::Provenance& entry : entries) {
        const auto named = std::find_if(files.begin(), files.end(), [&](const NamedFile& file) {
            return file.read != file.given && entry.path.starts_with(file.read);
        });
        if (named != files.end()) {
            entry.path.replace(0, named->read.size(), named->given);
        } else if (entry.path.starts_with(folder)) {
            entry.path.erase(0, folder.size());
        }
    }
    return entries;
}

}  // namespace treeline::requests
