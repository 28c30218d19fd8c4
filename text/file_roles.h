// Which files a command reads, so that none of its outputs replaces one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace treeline::text {

/// While one lives, the regular files that are opened for reading are remembered by device and inode, and an OutputFile refuses
/// to replace them. Standard input is one from the start, whoever reads it: this command, or the shell's loop around it. The
/// program makes one; a library, whose caller may read a file it is to replace later, makes none.
class InputRecord {
public:
    InputRecord();
    ~InputRecord();
    InputRecord(const InputRecord&) = delete;
    InputRecord& operator=(const InputRecord&) = delete;
};

/// Says that a file is read. What the command itself wrote before does not count.
void note_input(int descriptor);
void note_input(const std::filesystem::path& path);
/// Says that the file of this name is now what the command wrote.
void note_output(const std::filesystem::path& path);

/// Why an output must not replace the file of this name, to follow the name: it is read by the command, is another of its
/// outputs, or is an SQLite database. Empty where nothing is lost.
std::string loss_of_replacing(const std::filesystem::path& path);
/// The SQLite database whose journal, log or index has this name, were it one (https://www.sqlite.org/tempfiles.html); nothing
/// of other names.
std::optional<std::filesystem::path> database_beside(const std::filesystem::path& path);
/// Throws InputError where there is such a reason; `shown` is the name in its sentence.
void refuse_loss(const std::filesystem::path& path, const std::string& shown);

}  // namespace treeline::text
