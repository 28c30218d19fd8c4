// The files of a catalogue folder, and the file that a name or path means.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace treeline::hardware {

using CatalogueFolders = std::vector<std::string>;

/// Descriptions in these folders of the catalogue, by name. Throws InputError where a folder cannot be listed.
std::vector<std::filesystem::path> catalogue_files(const std::filesystem::path& catalogue, const CatalogueFolders& folders);
/// Their names, in the same order.
std::vector<std::string> catalogue_names(const std::filesystem::path& catalogue, const CatalogueFolders& folders);

/// Text with a '/' or that ends in ".json" is a path; other text a name in these folders, or one that differs from a single
/// name in case, marks and the maker alone ("NVIDIA GTX 1080 Ti"). Throws InputError for an unknown
/// name, with the nearest ones (or all that go on from it) and the command that lists all; `what` says what was looked for
/// ("device"). `also` are names with a meaning of their own, which the caller knows: they may be the nearest ones.
std::filesystem::path catalogue_file(const std::filesystem::path& catalogue, const CatalogueFolders& folders,
                                     const std::string& what, const std::string& name_or_path,
                                     const std::vector<std::string>& also = {});

/// The only one of these files whose name differs from a device's in case, marks and the maker alone; nothing if there is none.
/// Throws InputError for devices that cannot be priced, with the reason.
std::optional<std::filesystem::path> file_called(const std::vector<std::filesystem::path>& files, const std::string& name);

}  // namespace treeline::hardware
