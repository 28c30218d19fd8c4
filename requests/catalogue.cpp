#include "requests/catalogue.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "json/reader.h"

namespace treeline {
namespace {

namespace fs = std::filesystem;

Catalogue within(const fs::path& folder) { return {folder / "models", folder / "hardware"}; }

bool complete(const Catalogue& catalogue) {
    std::error_code ignored;
    return fs::is_directory(catalogue.models, ignored) && fs::is_directory(catalogue.hardware, ignored);
}

Catalogue required(const std::string& folder, const std::string& named_by) {
    Catalogue catalogue = within(folder);
    if (!complete(catalogue)) {
        throw InputError({named_by + ": " + folder + " does not hold the folders models and hardware of a catalogue"});
    }
    return catalogue;
}

}  // namespace

Catalogue find_catalogue(const std::string& flag) {
    if (!flag.empty()) {
        return required(flag, "--catalogue");
    }
    if (const char* variable = std::getenv("TREELINE_DATA"); variable != nullptr && *variable != '\0') {
        return required(variable, "TREELINE_DATA");
    }
    std::error_code ignored;
    const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
    for (const fs::path& folder : {program.parent_path().parent_path() / "share" / "treeline", fs::path(TREELINE_SOURCE_DIR)}) {
        if (complete(within(folder))) {
            return within(folder);
        }
    }
    throw InputError({"the catalogue of models and hardware was not found; give its folder with --catalogue"});
}

std::vector<Provenance> with_known_names(std::vector<Provenance> entries, const Catalogue& catalogue,
                                         const std::vector<NamedFile>& files) {
    const std::string folder = (catalogue.models.parent_path() / "").string();
    for (Provenance& entry : entries) {
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

}  // namespace treeline
