// Files that appear complete or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace treeline::text {

/// A result could not be written; the message is a sentence that names the file and why.
class OutputError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The reader of standard output went away (`treeline ... | head`): not an error, but there is nobody left to write to.
class OutputClosed : public OutputError {
public:
    using OutputError::OutputError;
};

/// Whether a command may replace a file that it has read or written: only where the new content holds the old one.
enum class Replaces { no_input, own_input };

/// Writes a file through a temporary one in the same folder, which takes the file's name once all of it is on disk. Large
/// results are written piece by piece. Anything that is not a regular file (a device, a pipe) is written directly; "-" is
/// standard output, which gets no control characters while it is a terminal; in JSON, told by its first brace or bracket, they
/// are escaped wherever it goes. An existing file keeps its permissions, and its content until the new one is complete.
class OutputFile {
public:
    /// Opens for writing. Throws OutputError when that cannot be done, InputError for the name of a folder or of a file in
    /// none, where the command reads the file that would be replaced (file_roles.h) or where it is an SQLite database.
    explicit OutputFile(const std::filesystem::path& path, Replaces replaces = Replaces::no_input);
    /// Removes the temporary file unless commit() succeeded.
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /// Throws OutputError (a full disk, …) or OutputClosed.
    void write(std::string_view text);
    /// Flushes to the disk and renames. Throws as write(). Nothing may be written afterwards.
    void commit();

private:
    void open_temporary();
    void refuse_loss() const;
    void flush();
    [[noreturn]] void fail(const std::string& what, int error) const;

    std::string shown_;  ///< the name in messages
    std::filesystem::path path_, temporary_;
    std::string buffer_;
    int descriptor_ = -1;
    bool owns_descriptor_ = true;
    bool on_terminal_ = false;
    bool is_first_ = true;  ///< nothing is written yet
    bool is_json_ = false;
    Replaces replaces_ = Replaces::no_input;
};

/// The whole file at once.
void write_file(const std::filesystem::path& path, std::string_view content, Replaces replaces = Replaces::no_input);

/// Bytes that have gone to standard output, which nothing takes back.
std::size_t bytes_on_standard_output();
/// Removes the temporary files of this process that are being written. May be called from a signal handler that ends it.
void remove_temporary_files() noexcept;

}  // namespace treeline::text
