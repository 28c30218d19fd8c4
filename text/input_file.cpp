#include "text/input_file.h"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <vector>

#include "text/catalogue_folder.h"
#include "text/file_roles.h"
#include "text/input_error.h"

namespace treeline::text {
namespace {

struct CloseFile {
    void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
};

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& sentence) {
    throw InputError({path.string() + ": " + sentence});
}

[[noreturn]] void refuse_with_errno(const std::filesystem::path& path, const std::string& sentence) {
    const int error = errno;
    refuse(path, sentence + " (" + std::generic_category().message(error) + ")");
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
    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
    if (!file) {
        refuse_with_errno(path, "cannot be opened");
    }
    note_input(::fileno(file.get()));
    std::string text;
    std::vector<char> chunk(1u << 16);
    while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), file.get())) {
        text.append(chunk.data(), got);
        if (text.size() > size_limit) {
            refuse(path, "is larger than " + std::to_string(size_limit) + " bytes, the limit for such a file");
        }
    }
    if (std::ferror(file.get()) != 0) {
        refuse_with_errno(path, "cannot be read");
    }
    return text;
}

}  // namespace treeline::text
