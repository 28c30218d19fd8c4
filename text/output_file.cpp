#include "text/output_file.h"

#include <atomic>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text/file_roles.h"
#include "text/input_error.h"
#include "text/plain_text.h"
#include "text/status_line.h"
#include "text/temporary_files.h"

namespace treeline::text {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t buffer_size = 1u << 18;
constexpr int most_name_attempts = 100;

std::atomic<std::size_t> on_standard_output = 0;

constexpr int most_links = 40;  // as the kernel follows

/// Where a link points, so that the file behind it is replaced (or made) rather than the link.
fs::path behind_links(fs::path path) {
    std::error_code error;
    for (int followed = 0; followed < most_links && fs::is_symlink(path, error); ++followed) {
        const fs::path target = fs::read_symlink(path, error);
        if (error) {
            break;
        }
        path = target.is_absolute() ? target : path.parent_path() / target;
    }
    return path;
}

bool is_special(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    return !error && fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

}  // namespace

OutputFile::OutputFile(const fs::path& path, Replaces replaces)
    : shown_(path.string()), path_(behind_links(path)), replaces_(replaces) {
    buffer_.reserve(buffer_size);
    if (path == "-") {
        shown_ = "standard output";
        descriptor_ = STDOUT_FILENO;
        owns_descriptor_ = false;
        on_terminal_ = ::isatty(STDOUT_FILENO) == 1;
        return;
    }
    std::error_code ignored;
    if (path.empty() || fs::is_directory(path_, ignored) || !path_.has_filename()) {
        throw InputError(
            {(path.empty() ? "the name of an output file is empty" : shown_ + " is a directory") + "; a file name is needed"});
    }
    if (is_special(path_)) {
        descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
        if (descriptor_ < 0) {
            fail("cannot be opened for writing", errno);
        }
        return;
    }
    if (fs::is_symlink(path_, ignored)) {
        fail("cannot be overwritten", ELOOP);
    }
    refuse_loss();
    struct stat before {};
    const bool existed = ::stat(path_.c_str(), &before) == 0;
    if (existed && ::access(path_.c_str(), W_OK) != 0) {
        fail("cannot be overwritten", errno);
    }
    open_temporary();
    if (existed) {
        static_cast<void>(::fchmod(descriptor_, before.st_mode & 07777u));
    }
}

/// A file beside the one to be written, whose lock says that its writer lives.
void OutputFile::open_temporary() {
    const std::string beginning = "." + path_.filename().string() + ".";
    remove_abandoned(path_.parent_path(), beginning);
    for (int attempt = 0; descriptor_ < 0 && attempt < most_name_attempts; ++attempt) {
        temporary_ = path_.parent_path() /
                     (beginning + std::to_string(::getpid()) + "-" + std::to_string(attempt) + std::string(temporary_ending));
        descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor_ < 0 && errno != EEXIST) {
            const int error = errno;
            temporary_.clear();
            if (error == ENOENT || error == ENOTDIR) {  // of a folder that does not exist: another name would have done
                throw InputError({shown_ + " cannot be created (" + std::generic_category().message(error) + ")"});
            }
            fail("cannot be created", error);
        }
    }
    if (descriptor_ < 0) {
        temporary_.clear();
        fail("cannot be created", EEXIST);
    }
    static_cast<void>(::flock(descriptor_, LOCK_EX | LOCK_NB));
    remember_temporary(temporary_);
}

void OutputFile::refuse_loss() const {
    if (replaces_ == Replaces::no_input) {
        text::refuse_loss(path_, shown_);
    }
}

OutputFile::~OutputFile() {
    if (owns_descriptor_ && descriptor_ >= 0) {
        ::close(descriptor_);
    }
    if (!temporary_.empty()) {
        ::unlink(temporary_.c_str());
        forget_temporary(temporary_);
    }
}

void OutputFile::fail(const std::string& what, int error) const {
    if (error == EPIPE) {
        throw OutputClosed(shown_ + " was closed by its reader");
    }
    throw OutputError(shown_ + " " + what + " (" + std::generic_category().message(error) + ")");
}

void OutputFile::write(std::string_view text) {
    if (is_first_) {
        is_first_ = false;
        is_json_ = text.starts_with('{') || text.starts_with('[');
    }
    buffer_ += text;
    if (buffer_.size() >= buffer_size) {
        flush();
    }
}

void OutputFile::flush() {
    if (is_json_) {
        buffer_ = json_without_controls(buffer_);
    }
    if (on_terminal_) {
        end_status();
        buffer_ = without_controls(buffer_);
    }
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
        if (!owns_descriptor_) {
            on_standard_output += static_cast<std::size_t>(written);
        }
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
        refuse_loss();  // once more: the file may have been made, and read, since
        if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
            fail("cannot be renamed into place", errno);
        }
        forget_temporary(temporary_);
        temporary_.clear();
        note_output(path_);
    }
}

std::size_t bytes_on_standard_output() { return on_standard_output; }

void write_file(const fs::path& path, std::string_view content, Replaces replaces) {
    OutputFile file(path, replaces);
    file.write(content);
    file.commit();
}

}  // namespace treeline::text
