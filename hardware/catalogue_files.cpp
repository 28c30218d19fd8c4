#include "hardware/catalogue_files.h"

#include <algorithm>

#include "json/reader.h"
#include "json/wording.h"
#include "text/catalogue_folder.h"

namespace treeline::hardware {

namespace fs = std::filesystem;

std::vector<fs::path> catalogue_files(const fs::path& catalogue, const CatalogueFolders& folders) {
    std::vector<fs::path> files;
    for (const std::string& folder : folders) {
        std::error_code error;
        const std::vector<fs::path> found = text::descriptions_in(catalogue / folder, error);
        files.insert(files.end(), found.begin(), found.end());
        if (error) {
            throw text::InputError({(catalogue / folder).string() + ": cannot be listed (" + error.message() + ")"});
        }
    }
    std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) { return a.stem() < b.stem(); });
    return files;
}

std::vector<std::string> catalogue_names(const fs::path& catalogue, const CatalogueFolders& folders) {
    std::vector<std::string> names;
    for (const fs::path& file : catalogue_files(catalogue, folders)) {
        names.push_back(file.stem().string());
    }
    return names;
}

fs::path catalogue_file(const fs::path& catalogue, const CatalogueFolders& folders, const std::string& what,
                        const std::string& name_or_path, const std::vector<std::string>& also) {
    if (name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json")) {
        return name_or_path;
    }
    for (const fs::path& file : catalogue_files(catalogue, folders)) {
        if (file.stem() == name_or_path) {
            return file;
        }
    }
    std::vector<std::string> names = catalogue_names(catalogue, folders);
    names.insert(names.end(), also.begin(), also.end());
    throw text::InputError({"there is no " + what + " \"" + name_or_path + "\"" +
                            text::other_names(name_or_path, names, "treeline hardware") +
                            "; a path to a description (.json) also works"});
}

}  // namespace treeline::hardware
