// The files of the catalogue: on the disk, or carried by the program. Nothing else lists its folders.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace treeline::text {

/// Paths below this one name what the program carries (TREELINE_EMBED_CATALOGUE); no disk is read for them.
inline constexpr const char* builtin_folder = ":builtin:";

/// Whether this program carries a catalogue.
bool has_builtin_files();
/// The bytes of a file that the program carries; nothing where `path` names none.
std::optional<std::string_view> builtin_file(const std::filesystem::path& path);
/// Whether `path` lies below builtin_folder.
bool is_builtin(const std::filesystem::path& path);

/// The regular files right in `folder`, sorted. `error` says why it cannot be listed.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder, std::error_code& error);
/// Those called *.json.
std::vector<std::filesystem::path> descriptions_in(const std::filesystem::path& folder, std::error_code& error);
/// "llama-3.1-8b" for each description llama-3.1-8b.json in `folder`, sorted.
std::vector<std::string> description_names(const std::filesystem::path& folder, std::error_code& error);
/// All regular files in `folder` and in the folders below it, sorted. Throws std::filesystem::filesystem_error where the disk
/// does.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder);

bool is_folder(const std::filesystem::path& path);
bool is_file(const std::filesystem::path& path);

/// The files of an archive as cmake/EmbedCatalogue.cmake writes it, by name: a line "<bytes> <name>" for each, an empty line,
/// then their bytes one after the other. Throws std::invalid_argument where it is none.
std::vector<std::pair<std::string_view, std::string_view>> files_of_archive(std::string_view archive);

}  // namespace treeline::text
