// Where the descriptions are.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "json/reader.h"

namespace treeline::requests {

class Remembered;

/// Folders of the catalogue, as the readers want them.
struct Catalogue {
    std::filesystem::path models;
    std::filesystem::path hardware;
    /// Where what was read is kept for the next point or question; null: each reads anew.
    std::shared_ptr<Remembered> remembered = {};

    /// Published draft trees.
    [[nodiscard]] std::filesystem::path trees() const { return models.parent_path() / "examples" / "trees"; }
    /// Published experiments.
    [[nodiscard]] std::filesystem::path experiments() const { return models.parent_path() / "calibrate" / "published"; }
    /// What predictions missed where engines were measured.
    [[nodiscard]] std::filesystem::path measured_errors() const { return hardware / "errors" / "serving.json"; }
    /// What measured rows call models, devices and engines.
    [[nodiscard]] std::filesystem::path evidence() const { return names().parent_path() / "evidence.json"; }
    [[nodiscard]] std::filesystem::path names() const { return models.parent_path() / "validation" / "serving" / "names.json"; }
};

/// The first of: `flag` (if not empty), $TREELINE_DATA, share/treeline beside the program or in its prefix, what the program
/// carries (text/catalogue_folder.h). The first two are used without looking further. What is read of it is kept. Throws
/// InputError when the folder lacks models/ or hardware/, or when none is found.
Catalogue find_catalogue(const std::string& flag);

/// The same for a library, which no flag reaches: that of $TREELINE_DATA, else the first of `folders` that holds one, else the
/// one that the program carries. Throws InputError likewise.
Catalogue catalogue_among(const std::vector<std::filesystem::path>& folders);
/// The catalogue in this folder. Throws InputError that begins with `named_by` where it lacks models/ or hardware/.
Catalogue catalogue_in(const std::filesystem::path& folder, const std::string& named_by);

/// A file under the path at which it was read and the name that the input gives it.
struct NamedFile {
    std::string read;
    std::string given;
};

/// Entries whose files are named as readers know them, not by where this machine keeps them: `files` as the input calls them,
/// files of the catalogue from its folder on ("models/llama-3-8b.json").
std::vector<text::Provenance> with_known_names(std::vector<text::Provenance> entries, const Catalogue& catalogue,
                                               const std::vector<NamedFile>& files = {});

}  // namespace treeline::requests
