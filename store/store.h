// The store: questions that sweeps were asked, how far they have come, and what they found. One SQLite file, which any reader
// of SQLite (DuckDB, pandas, R) understands: the table `runs` has a line for each question, `rows` one for each point kept.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "store/database.h"
#include "sweeps/sweep.h"

namespace treeline::store {

/// What makes two runs the same: the input, what was asked of it, and everything that the figures depend on.
struct Question {
    std::string title;
    std::string input;        ///< the JSON of the file
    std::string folder;       ///< that its paths are relative to
    std::string flags;        ///< what was asked for, as JSON
    std::string program;      ///< version of treeline
    std::string catalogue;    ///< hash of the descriptions of models and hardware
    std::string fingerprint;  ///< hash of figures at points of every variant: changes with anything that changes a price
    sweeps::SweepPart part;

    /// Hash of all but the folder; `whole` leaves the part out, too.
    [[nodiscard]] std::string key() const;
    [[nodiscard]] std::string whole_key() const;
};

struct StoredRun {
    std::int64_t id = 0;
    Question question;
    std::uint64_t tasks = 0;
    sweeps::SweepState state;
    std::string started, saved;  ///< UTC
    std::int64_t points = 0;
    bool finished = false;
    std::string summary;  ///< JSON, of a finished run
};

/// A point that a run keeps: which list it stands on, and its columns, as `treeline sweep --csv` names them.
struct StoredRow {
    std::string list;  ///< "best", "pareto", "best of device,batch"
    std::int64_t place = 0;
    Row cells;
};

class Store {
public:
    static constexpr std::int64_t version = 1;

    /// Opens or begins a store. Throws InputError for a file that is none, or of a newer version; OutputError where it cannot
    /// be written.
    Store(const std::filesystem::path& path, Access access);

    /// The run that asks this question, begun if there is none, and claimed for this process. Throws OutputError when another
    /// living process has it.
    StoredRun claim(const Question& question, std::uint64_t tasks);
    /// Saves how far a run has come.
    void save(std::int64_t id, const sweeps::SweepState& state);
    /// The same for the last time, with what it found; `columns` are the names of a row's cells.
    void finish(std::int64_t id, const sweeps::SweepState& state, std::int64_t points, const std::string& summary,
                const std::vector<std::string>& columns, const std::vector<StoredRow>& rows);

    /// Gives a claimed run back without changing it.
    void release(std::int64_t id);

    [[nodiscard]] std::vector<StoredRun> runs();
    /// Throws InputError for a number that no run has.
    [[nodiscard]] StoredRun run(std::int64_t id);
    /// Columns and rows of a run's lists, in order.
    std::vector<std::string> rows(std::int64_t id, std::vector<Row>& rows);
    std::vector<std::string> query(const std::string& sql, std::vector<Row>& rows) { return database_.query(sql, rows); }

private:
    void check_version(Access access);
    void create();
    void add_columns(const std::vector<std::string>& columns);
    std::vector<std::string> columns_of_rows();

    std::string shown_;
    Database database_;
};

/// 64 bits of FNV-1a, as 16 hexadecimal digits.
std::string hash_of(std::string_view bytes);
/// The time in UTC, "2026-11-22 16:45:03".
std::string utc_now();

}  // namespace treeline::store
