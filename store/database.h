// A SQLite file, with errors as sentences.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace treeline::store {

/// Null, a number, a text, or bytes.
struct Blob {
    std::string bytes;
};
using Cell = std::variant<std::monostate, std::int64_t, double, std::string, Blob>;
using Row = std::vector<Cell>;

std::string cell_text(const Cell& cell);
/// Throws InputError where it is no whole number: what treeline wrote is.
std::int64_t whole_of(const Cell& cell);

enum class Access { read, write };

class Database {
public:
    /// Opens a file; Access::write creates it where it is missing. Throws InputError for what is no database, OutputError where
    /// the system refuses.
    Database(const std::filesystem::path& path, Access access);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// Runs a statement with `?` in place of values. Calls `take` with every row. Throws InputError for a statement that cannot
    /// be read, OutputError for a full disk, a file that another process keeps writing, ….
    void run(const std::string& sql, const Row& values = {}, const std::function<void(const Row&)>& take = {});
    /// The same for a statement of a user: its columns, then its rows. Only one statement, which may do nothing but read this
    /// file.
    std::vector<std::string> query(const std::string& sql, std::vector<Row>& rows);
    [[nodiscard]] std::int64_t last_id() const;
    [[nodiscard]] std::int64_t changes() const;

    /// All of `work` or nothing.
    template <class Work>
    void at_once(Work work) {
        run("BEGIN IMMEDIATE");
        try {
            work();
            run("COMMIT");
        } catch (...) {
            abandon();
            throw;
        }
    }

private:
    void abandon() noexcept;
    [[noreturn]] void fail(const std::string& sql) const;
    struct Finalise {
        void operator()(sqlite3_stmt* statement) const;
    };
    using Statement = std::unique_ptr<sqlite3_stmt, Finalise>;
    [[nodiscard]] Statement prepared(const std::string& sql, bool only) const;
    Row row_of(sqlite3_stmt* statement) const;

    std::string shown_;
    sqlite3* handle_ = nullptr;
};

}  // namespace treeline::store
