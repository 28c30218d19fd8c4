// Where the descriptions lie.
#pragma once

#include <filesystem>
#include <string>

namespace treeline {

/// Folders of the catalogue, as the readers want them.
struct Catalogue {
    std::filesystem::path models;
    std::filesystem::path hardware;

    /// Published draft trees.
    [[nodiscard]] std::filesystem::path trees() const { return models.parent_path() / "examples" / "trees"; }
    /// Published experiments.
    [[nodiscard]] std::filesystem::path experiments() const { return models.parent_path() / "calibrate" / "published"; }
};

/// The first of: `flag` (where not empty), $TREELINE_DATA, <program>/../share/treeline, the source folder the program was built
/// from. The first two are used without looking further. Throws InputError when the folder lacks models/ or hardware/, or when
/// none is found.
Catalogue find_catalogue(const std::string& flag);

}  // namespace treeline
