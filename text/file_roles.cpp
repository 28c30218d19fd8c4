#include "text/file_roles.h"

#include <array>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "text/input_error.h"

namespace treeline::text {
namespace {

using Identity = std::pair<dev_t, ino_t>;

struct Record {
    std::mutex mutex;
    bool active = false;
    std::set<Identity> inputs, outputs;
};

Record& record() {
    static Record only;
    return only;
}

std::optional<Identity> identity_of(const struct stat& status) {
    return S_ISREG(status.st_mode) ? std::optional(Identity{status.st_dev, status.st_ino}) : std::nullopt;
}

std::optional<Identity> identity_of(const std::filesystem::path& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? identity_of(status) : std::nullopt;
}

void add_input(const std::optional<Identity>& file) {
    Record& known = record();
    const std::lock_guard lock(known.mutex);
    if (known.active && file && !known.outputs.contains(*file)) {
        known.inputs.insert(*file);
    }
}

/// Whether one of the record's sets of files, inputs or outputs, holds it.
bool is_known(const Identity& file, std::set<Identity> Record::*files) {
    Record& known = record();
    const std::lock_guard lock(known.mutex);
    return known.active && (known.*files).contains(file);
}

/// By its first bytes (https://www.sqlite.org/fileformat.html, "The Database Header").
bool is_sqlite(const std::filesystem::path& path) {
    static constexpr std::string_view header("SQLite format 3\0", 16);
    std::array<char, header.size()> start{};
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    return file && std::fread(start.data(), 1, start.size(), file.get()) == start.size() &&
           std::string_view(start.data(), start.size()) == header;
}

}  // namespace

InputRecord::InputRecord() {
    {
        const std::lock_guard lock(record().mutex);
        record().active = true;
    }
    note_input(STDIN_FILENO);
}

InputRecord::~InputRecord() {
    const std::lock_guard lock(record().mutex);
    record().active = false;
    record().inputs.clear();
    record().outputs.clear();
}

void note_input(int descriptor) {
    struct stat status {};
    if (::fstat(descriptor, &status) == 0) {
        add_input(identity_of(status));
    }
}

void note_input(const std::filesystem::path& path) { add_input(identity_of(path)); }

void note_output(const std::filesystem::path& path) {
    const std::optional<Identity> file = identity_of(path);
    Record& known = record();
    const std::lock_guard lock(known.mutex);
    if (known.active && file) {
        known.outputs.insert(*file);
        known.inputs.erase(*file);  // an inode that a replaced file had before
    }
}

std::optional<std::filesystem::path> database_beside(const std::filesystem::path& path) {
    const std::string name = path.string();
    for (const std::string_view end : {"-journal", "-wal", "-shm"}) {
        if (name.ends_with(end)) {
            return name.substr(0, name.size() - end.size());
        }
    }
    return std::nullopt;
}

std::string loss_of_replacing(const std::filesystem::path& path) {
    const std::optional<std::filesystem::path> base = database_beside(path);
    const std::optional<Identity> database = base ? identity_of(*base) : std::nullopt;
    // A file that this command reads is not opened once more: closing it would give up its locks, if it is a database.
    if (database && (is_known(*database, &Record::inputs) || is_sqlite(*base))) {
        return "is a name that SQLite uses beside " + base->filename().string();
    }
    const std::optional<Identity> file = identity_of(path);
    if (!file) {
        return "";
    }
    // In this order: closing a database that this process has open would give up its locks.
    if (is_known(*file, &Record::inputs)) {
        return "is read by this command, which would lose it";
    }
    if (is_known(*file, &Record::outputs)) {
        return "was just written by this command, which would lose it";
    }
    return is_sqlite(path) ? "is an SQLite database, which may hold the answers of a store" : "";
}

void refuse_loss(const std::filesystem::path& path, const std::string& shown) {
    if (const std::string loss = loss_of_replacing(path); !loss.empty()) {
        throw InputError({shown + " " + loss + "; name another file for the output"});
    }
}

}  // namespace treeline::text
