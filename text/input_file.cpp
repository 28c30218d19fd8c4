#include "text/input_file.h"

#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include "text/catalogue_folder.h"
#include "text/file_roles.h"
#include "text/input_error.h"

namespace treeline::text {
namespace {

struct CloseFile {
    void operator()(std::FILE* file) const {
        if (file != stdin) {
            static_cast<void>(std::fclose(file));
        }
    }
};

/// What pipes and standard input said. They say it once, and a file is asked more than once: of which kind it is, then what it
/// describes.
struct Heard {
    std::mutex mutex;
    std::map<std::pair<dev_t, ino_t>, std::string> texts;
};

Heard& heard() {
    static Heard only;
    return only;
}

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& sentence) {
    throw InputError({path.string() + ": " + sentence});
}

[[noreturn]] void refuse_with_errno(const std::filesystem::path& path, const std::string& sentence) {
    const int error = errno;
    refuse(path, sentence + " (" + std::generic_category().message(error) + ")");
}

/// From where it stands.
std::string all_of(std::FILE* file, const std::filesystem::path& path, std::uintmax_t size_limit) {
    std::string text;
    std::vector<char> chunk(1u << 16);
    while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), file)) {
        text.append(chunk.data(), got);
        if (text.size() > size_limit) {
            refuse(path, "is larger than " + std::to_string(size_limit) + " bytes, the limit for such a file");
        }
    }
    if (std::ferror(file) != 0) {
        refuse_with_errno(path, "cannot be read");
    }
    return text;
}

}  // namespace

std::string read_file(const std::filesystem::path& path, std::uintmax_t size_limit) {
    if (const std::optional<std::string_view> carried = builtin_file(path)) {
        return std::string(*carried);
    }
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
        refuse(path, "is a directory, but a file is needed");
    }
    const bool standard_input = path == standard_input_word;
    const std::unique_ptr<std::FILE, CloseFile> file(standard_input ? stdin : std::fopen(path.c_str(), "rb"));
    if (!file) {
        refuse_with_errno(path, "cannot be opened");
    }
    note_input(::fileno(file.get()));
    struct stat status {};
    const bool says_it_once = ::fstat(::fileno(file.get()), &status) == 0 && (standard_input || !S_ISREG(status.st_mode));
    if (!says_it_once) {
        return all_of(file.get(), path, size_limit);
    }
    const std::lock_guard lock(heard().mutex);
    std::string& text = heard().texts[{status.st_dev, status.st_ino}];
    if (text.empty()) {
        text = all_of(file.get(), path, size_limit);
    }
    return text;
}

}  // namespace treeline::text
