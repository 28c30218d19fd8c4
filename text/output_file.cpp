#include "text/output_file.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace treeline::text {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t buffer_size = 1u << 18;
constexpr int most_name_attempts = 100;

/// Where a link points, so that the file behind it is replaced rather than the link.
fs::path behind_links(fs::path path) {
    std::error_code error;
    if (fs::is_symlink(path, error)) {
        fs::path target = fs::weakly_canonical(path, error);
        if (!error) {
            return target;
        }
    }
    return path;
}

bool is_special(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    return !error && fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

}  // namespace

OutputFile::OutputFile(const fs::path& path) : shown_(path.string()), path_(behind_links(path)) {
    buffer_.reserve(buffer_size);
    if (path == "-") {
        shown_ = "standard output";
        descriptor_ = STDOUT_FILENO;
        owns_descriptor_ = false;
        return;
    }
    std::error_code ignored;
    if (path.empty() || fs::is_directory(path_, ignored) || !path_.has_filename()) {
        throw OutputError((path.empty() ? "the name of an output file is empty" : shown_ + " is a directory") +
                          "; a file name is needed");
    }
    if (is_special(path_)) {
        descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
        if (descriptor_ < 0) {
            fail("cannot be opened for writing", errno);
        }
        return;
    }
    struct stat before {};
    const bool existed = ::stat(path_.c_str(), &before) == 0;
    if (existed && ::access(path_.c_str(), W_OK) != 0) {
        fail("cannot be overwritten", errno);
    }
    for (int attempt = 0; descriptor_ < 0 && attempt < most_name_attempts; ++attempt) {
        const std::string suffix = "." + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".tmp";
        temporary_ = path_.parent_path() / ("." + path_.filename().string() + suffix);
        descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor_ < 0 && errno != EEXIST) {
            const int error = errno;
            temporary_.clear();
            fail("cannot be created", error);
        }
    }
    if (descriptor_ < 0) {
        temporary_.clear();
        fail("cannot be created", EEXIST);
    }
    if (existed) {
        static_cast<void>(::fchmod(descriptor_, before.st_mode & 07777u));
    }
}

OutputFile::~OutputFile() {
    if (owns_descriptor_ && descriptor_ >= 0) {
        ::close(descriptor_);
    }
    if (!temporary_.empty()) {
        ::unlink(temporary_.c_str());
    }
}

void OutputFile::fail(const std::string& what, int error) const {
    if (error == EPIPE) {
        throw OutputClosed(shown_ + " was closed by its reader");
    }
    throw OutputError(shown_ + " " + what + " (" + std::generic_category().message(error) + ")");
}

void OutputFile::write(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= buffer_size) {
        flush();
    }
}

void OutputFile::flush() {
    std::string_view left = buffer_;
    while (!left.empty()) {
        const ssize_t written = ::write(descriptor_, left.data(), left.size());
        if (written < 0) {
            if (errno == EINTR) {
                continue;
            }
            fail("cannot be written", errno);
        }
        left.remove_prefix(static_cast<std::size_t>(written));
    }
    buffer_.clear();
}

void OutputFile::commit() {
    flush();
    if (!owns_descriptor_) {
        return;
    }
    // Devices and pipes have nothing to synchronise, and say so with EINVAL.
    if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) {
        fail("cannot be written", errno);
    }
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (::close(descriptor) != 0) {
        fail("cannot be written", errno);
    }
    if (!temporary_.empty()) {
        if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
            fail("cannot be renamed into place", errno);
        }
        temporary_.clear();
    }
}

void write_file(const fs::path& path, std::string_view content) {
    OutputFile file(path);
    file.write(content);
    file.commit();
}

}  // namespace treeline::text
