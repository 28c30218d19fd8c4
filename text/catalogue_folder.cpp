#include "text/catalogue_folder.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <stdexcept>
#include <utility>

#ifdef TREELINE_EMBED_CATALOGUE
extern "C" const char treeline_catalogue_begin[];
extern "C" const char treeline_catalogue_end[];
#endif

namespace treeline::text {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string_view>;

Files carried_files() {
    Files files;
#ifdef TREELINE_EMBED_CATALOGUE
    const auto size = static_cast<std::size_t>(treeline_catalogue_end - treeline_catalogue_begin);
    for (const auto& [name, bytes] : files_of_archive({treeline_catalogue_begin, size})) {
        files.emplace((fs::path(builtin_folder) / name).generic_string(), bytes);
    }
#endif
    return files;
}

const Files& builtin_files() {
    static const Files files = carried_files();
    return files;
}

std::string builtin_name(const fs::path& path) { return path.lexically_normal().generic_string(); }

/// What the program carries below `folder`.
std::vector<fs::path> builtin_below(const fs::path& folder) {
    std::vector<fs::path> files;
    const std::string start = builtin_name(folder / "");
    for (auto at = builtin_files().lower_bound(start); at != builtin_files().end() && at->first.starts_with(start); ++at) {
        files.emplace_back(at->first);
    }
    std::sort(files.begin(), files.end());  // by their parts, as on a disk
    return files;
}

}  // namespace

std::vector<std::pair<std::string_view, std::string_view>> files_of_archive(std::string_view archive) {
    std::vector<std::pair<std::string_view, std::size_t>> index;
    while (!archive.starts_with('\n')) {
        std::size_t size = 0;
        const std::size_t end = archive.find('\n');
        const auto [blank, error] = std::from_chars(archive.data(), archive.data() + archive.size(), size);
        if (end == std::string_view::npos || error != std::errc() || *blank != ' ') {
            throw std::invalid_argument("the catalogue that this program carries cannot be read");
        }
        const auto name = static_cast<std::size_t>(blank - archive.data()) + 1;
        index.emplace_back(archive.substr(name, end - name), size);
        archive.remove_prefix(end + 1);
    }
    archive.remove_prefix(1);
    std::vector<std::pair<std::string_view, std::string_view>> files;
    for (const auto& [name, size] : index) {
        if (size > archive.size()) {
            throw std::invalid_argument("the catalogue that this program carries is cut short");
        }
        files.emplace_back(name, archive.substr(0, size));
        archive.remove_prefix(size);
    }
    return files;
}

bool has_builtin_files() { return !builtin_files().empty(); }

bool is_builtin(const fs::path& path) { return !path.empty() && *path.begin() == builtin_folder; }

std::optional<std::string_view> builtin_file(const fs::path& path) {
    if (!is_builtin(path)) {
        return std::nullopt;
    }
    const auto found = builtin_files().find(builtin_name(path));
    return found == builtin_files().end() ? std::nullopt : std::optional(found->second);
}

std::vector<fs::path> files_in(const fs::path& folder, std::error_code& error) {
    std::vector<fs::path> files;
    if (is_builtin(folder)) {
        files = builtin_below(folder);
        const fs::path here = builtin_name(folder / ".");
        std::erase_if(files, [&](const fs::path& file) { return file.parent_path() / "" != here; });
        return files;
    }
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        if (std::error_code ignored; entry->is_regular_file(ignored)) {
            files.push_back(entry->path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<fs::path> descriptions_in(const fs::path& folder, std::error_code& error) {
    std::vector<fs::path> files = files_in(folder, error);
    std::erase_if(files, [](const fs::path& file) { return file.extension() != ".json"; });
    return files;
}

std::vector<std::string> description_names(const fs::path& folder, std::error_code& error) {
    std::vector<std::string> names;
    for (const fs::path& file : descriptions_in(folder, error)) {
        names.push_back(file.stem().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<fs::path> files_below(const fs::path& folder) {
    if (is_builtin(folder)) {
        return builtin_below(folder);
    }
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file()) {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

bool is_folder(const fs::path& path) {
    std::error_code ignored;
    return is_builtin(path) ? !builtin_below(path).empty() : fs::is_directory(path, ignored);
}

bool is_file(const fs::path& path) {
    std::error_code ignored;
    return is_builtin(path) ? builtin_file(path).has_value() : fs::is_regular_file(path, ignored);
}

}  // namespace treeline::text
