#include "store/database.h"

#include <sqlite3.h>

#include <new>

#include <fmt/format.h>

#include "text/file_roles.h"
#include "text/input_error.h"
#include "text/output_file.h"

namespace treeline::store {
namespace {

constexpr int patience_ms = 20'000;  ///< with another process that writes
/// What a statement of a user may take, some seconds and a fraction of a gigabyte: a recursive one may have no end.
constexpr int steps_between_checks = 1'000'000;  ///< of SQLite's virtual machine
constexpr int most_checks = 500;
constexpr std::size_t most_bytes_of_rows = 128u << 20;
constexpr int most_bytes_of_value = 64 << 20;
constexpr std::int64_t most_bytes_of_query = 256 << 20;  ///< beside what SQLite holds before

/// What a statement of a user may do: read this file. The store being opened for reading does not suffice: VACUUM INTO and
/// ATTACH write other files (https://www.sqlite.org/c3ref/set_authorizer.html).
int may_read(void*, int action, const char* first, const char* second, const char*, const char*) {
    switch (action) {
        case SQLITE_SELECT:
        case SQLITE_READ:
        case SQLITE_FUNCTION:
        case SQLITE_RECURSIVE:
            return SQLITE_OK;
        case SQLITE_PRAGMA: {
            const std::string_view name = first != nullptr ? first : "";
            const bool lists = name == "table_info" || name == "table_list" || name == "index_list";
            return lists || (second == nullptr && name == "user_version") ? SQLITE_OK : SQLITE_DENY;
        }
        default:
            return SQLITE_DENY;
    }
}

void bind(sqlite3_stmt* statement, int place, const Cell& cell) {
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
        sqlite3_bind_int64(statement, place, *whole);
    } else if (const auto* number = std::get_if<double>(&cell)) {
        sqlite3_bind_double(statement, place, *number);
    } else if (const auto* text = std::get_if<std::string>(&cell)) {
        sqlite3_bind_text64(statement, place, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    } else if (const auto* blob = std::get_if<Blob>(&cell)) {
        sqlite3_bind_blob64(statement, place, blob->bytes.data(), blob->bytes.size(), SQLITE_TRANSIENT);
    } else {
        sqlite3_bind_null(statement, place);
    }
}

/// Also while the statement runs: VACUUM INTO attaches the other file only then.
class OnlyReading {
public:
    explicit OnlyReading(sqlite3* handle) : handle_(handle) { sqlite3_set_authorizer(handle_, may_read, nullptr); }
    ~OnlyReading() { sqlite3_set_authorizer(handle_, nullptr, nullptr); }
    OnlyReading(const OnlyReading&) = delete;
    OnlyReading& operator=(const OnlyReading&) = delete;

private:
    sqlite3* handle_;
};

/// Ends a statement that takes too long (https://www.sqlite.org/c3ref/progress_handler.html).
class BoundedSteps {
public:
    explicit BoundedSteps(sqlite3* handle) : handle_(handle) {
        sqlite3_progress_handler(handle_, steps_between_checks, ends, &checks_);
    }
    ~BoundedSteps() { sqlite3_progress_handler(handle_, 0, nullptr, nullptr); }
    BoundedSteps(const BoundedSteps&) = delete;
    BoundedSteps& operator=(const BoundedSteps&) = delete;

private:
    static int ends(void* checks) { return ++*static_cast<int*>(checks) > most_checks ? 1 : 0; }

    sqlite3* handle_;
    int checks_ = 0;
};

/// Bounds what SQLite allocates for a statement, and each of its values (https://www.sqlite.org/c3ref/limit.html,
/// https://www.sqlite.org/c3ref/hard_heap_limit64.html): a value is whole before a row of it is seen.
class BoundedMemory {
public:
    explicit BoundedMemory(sqlite3* handle)
        : handle_(handle),
          length_(sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, most_bytes_of_value)),
          heap_(sqlite3_hard_heap_limit64(sqlite3_memory_used() + most_bytes_of_query)) {}
    ~BoundedMemory() {
        sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, length_);
        sqlite3_hard_heap_limit64(heap_);
    }
    BoundedMemory(const BoundedMemory&) = delete;
    BoundedMemory& operator=(const BoundedMemory&) = delete;

private:
    sqlite3* handle_;
    int length_;
    std::int64_t heap_;
};

/// What SQLite hands out, which is null where it found no memory for it.
std::string content_of(const void* bytes, std::size_t size) {
    if (bytes == nullptr && size > 0) {
        throw std::bad_alloc();
    }
    return size == 0 ? std::string() : std::string(static_cast<const char*>(bytes), size);
}

std::size_t bytes_of(const Row& row) {
    std::size_t bytes = row.size() * sizeof(Cell);
    for (const Cell& cell : row) {
        const auto* text = std::get_if<std::string>(&cell);
        const auto* blob = std::get_if<Blob>(&cell);
        bytes += text != nullptr ? text->size() : blob != nullptr ? blob->bytes.size() : 0;
    }
    return bytes;
}

}  // namespace

void Database::Finalise::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

std::string cell_text(const Cell& cell) {
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
        return std::to_string(*whole);
    }
    if (const auto* number = std::get_if<double>(&cell)) {
        return fmt::format("{}", *number);
    }
    if (const auto* text = std::get_if<std::string>(&cell)) {
        return *text;
    }
    return std::holds_alternative<Blob>(cell) ? "(bytes)" : "";
}

std::int64_t whole_of(const Cell& cell) {
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
        return *whole;
    }
    throw text::InputError({fmt::format("the store is damaged: \"{}\" stands where it keeps a whole number", cell_text(cell))});
}

namespace {

/// A process that was killed may leave a journal beside the file, with which only who may write brings the file back to its
/// last whole state; whoever opens it to read cannot. Where that may not be either, opening it to read says so.
void roll_back_what_was_cut_off(const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::exists(path + "-journal", ignored)) {
        return;
    }
    sqlite3* handle = nullptr;
    if (sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK) {
        sqlite3_exec(handle, "PRAGMA schema_version", nullptr, nullptr, nullptr);
    }
    sqlite3_close(handle);
}

}  // namespace

Database::Database(const std::filesystem::path& path, Access access) : shown_(path.string()) {
    const int flags = access == Access::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    std::error_code ignored;
    if (access == Access::read && !std::filesystem::exists(path, ignored)) {
        throw text::InputError({shown_ + " does not exist; treeline sweep ... --store " + shown_ + " begins such a file"});
    }
    if (access == Access::read) {
        roll_back_what_was_cut_off(shown_);
    }
    if (sqlite3_open_v2(shown_.c_str(), &handle_, flags, nullptr) != SQLITE_OK) {
        const std::string reason = handle_ != nullptr ? sqlite3_errmsg(handle_) : "there is not enough memory";
        sqlite3_close(handle_);
        throw text::OutputError(fmt::format("{} cannot be opened as a store: {}", shown_, reason));
    }
    text::note_input(path);
    sqlite3_busy_timeout(handle_, patience_ms);
    try {
        run("PRAGMA schema_version");  // reads the first page: is this a database at all?
    } catch (...) {
        sqlite3_close(handle_);
        throw;
    }
}

Database::~Database() { sqlite3_close(handle_); }

void Database::abandon() noexcept { sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr); }

void Database::fail(const std::string& sql) const {
    switch (sqlite3_errcode(handle_) & 0xff) {
        case SQLITE_NOTADB:
        case SQLITE_CORRUPT:
            throw text::InputError({shown_ + " is not a store of treeline: it is no SQLite database, or damaged"});
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            throw text::OutputError(shown_ + " is being written by another process, and has been for " +
                                    std::to_string(patience_ms / 1000) + " s; try again when that one has ended");
        case SQLITE_FULL:
        case SQLITE_IOERR:
            throw text::OutputError(shown_ +
                                    " cannot be written: the disk is full, or fails; what was saved before stays in the file");
        case SQLITE_READONLY:
        case SQLITE_CANTOPEN:
        case SQLITE_PERM:
            throw text::OutputError(shown_ + " cannot be written: " + sqlite3_errmsg(handle_));
        case SQLITE_AUTH:
            throw text::InputError({fmt::format("{}: a query only reads this store (in: {})", shown_, sql)});
        case SQLITE_INTERRUPT:
            throw text::InputError(
                {fmt::format("{}: this query takes more than {} million steps, and may have no end; ask for "
                             "less of it (in: {})",
                             shown_, most_checks * (steps_between_checks / 1'000'000), sql)});
        case SQLITE_TOOBIG:
            throw text::InputError({fmt::format("{}: this query makes a value of more than {} MiB; ask for less of it (in: {})",
                                                shown_, most_bytes_of_value >> 20, sql)});
        case SQLITE_NOMEM:
            throw std::bad_alloc();
        default:
            throw text::InputError({fmt::format("{}: {} (in: {})", shown_, sqlite3_errmsg(handle_), sql)});
    }
}

Database::Statement Database::prepared(const std::string& sql, bool only) const {
    sqlite3_stmt* statement = nullptr;
    const char* rest = nullptr;
    if (sqlite3_prepare_v2(handle_, sql.c_str(), -1, &statement, &rest) != SQLITE_OK) {
        fail(sql);
    }
    if (statement == nullptr || (only && std::string_view(rest).find_first_not_of(" ;\n\t") != std::string_view::npos)) {
        sqlite3_finalize(statement);
        throw text::InputError({"a query is one SQL statement: " + sql});
    }
    return Statement(statement);
}

Row Database::row_of(sqlite3_stmt* statement) const {
    Row row;
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
        const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, i));
        switch (sqlite3_column_type(statement, i)) {
            case SQLITE_INTEGER:
                row.emplace_back(std::int64_t{sqlite3_column_int64(statement, i)});
                break;
            case SQLITE_FLOAT:
                row.emplace_back(sqlite3_column_double(statement, i));
                break;
            case SQLITE_TEXT:
                row.emplace_back(content_of(sqlite3_column_text(statement, i), size));
                break;
            case SQLITE_BLOB:
                row.emplace_back(Blob{content_of(sqlite3_column_blob(statement, i), size)});
                break;
            default:
                row.emplace_back();
        }
    }
    return row;
}

void Database::run(const std::string& sql, const Row& values, const std::function<void(const Row&)>& take) try {
    const Statement statement = prepared(sql, true);
    for (std::size_t i = 0; i < values.size(); ++i) {
        bind(statement.get(), static_cast<int>(i) + 1, values[i]);
    }
    int step = 0;
    while ((step = sqlite3_step(statement.get())) == SQLITE_ROW) {
        if (take) {
            take(row_of(statement.get()));
        }
    }
    if (step != SQLITE_DONE) {
        fail(sql);
    }
} catch (const std::bad_alloc&) {
    // Also where a damaged file states the length of a value, which none of its size could hold.
    throw text::InputError({shown_ + " is damaged, or takes more memory than there is"});
}

std::vector<std::string> Database::query(const std::string& sql, std::vector<Row>& rows) try {
    const BoundedMemory bounded_memory(handle_);
    const OnlyReading only_reading(handle_);
    const BoundedSteps bounded(handle_);
    const Statement statement = prepared(sql, true);
    std::vector<std::string> columns;
    for (int i = 0; i < sqlite3_column_count(statement.get()); ++i) {
        columns.emplace_back(sqlite3_column_name(statement.get(), i));
    }
    int step = 0;
    std::size_t bytes = 0;
    while ((step = sqlite3_step(statement.get())) == SQLITE_ROW) {
        rows.push_back(row_of(statement.get()));
        if ((bytes += bytes_of(rows.back())) > most_bytes_of_rows) {
            throw text::InputError({fmt::format("{}: this query finds more than {} MiB; narrow it by WHERE or LIMIT (in: {})",
                                                shown_, most_bytes_of_rows >> 20, sql)});
        }
    }
    if (step != SQLITE_DONE) {
        fail(sql);
    }
    return columns;
} catch (const std::bad_alloc&) {
    throw text::InputError({fmt::format("{}: this query takes more than {} MiB of memory; ask for less of it (in: {})", shown_,
                                        most_bytes_of_query >> 20, sql)});
}

std::int64_t Database::last_id() const { return sqlite3_last_insert_rowid(handle_); }
std::int64_t Database::changes() const { return sqlite3_changes64(handle_); }

}  // namespace treeline::store
