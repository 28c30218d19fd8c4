#include "store/store.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>

#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "text/input_error.h"
#include "text/output_file.h"

namespace treeline::store {
namespace {

constexpr std::int64_t silence_s = 60;  ///< after which a process on another machine is taken for dead

std::string host_name() {
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "this machine";
}

bool is_alive(std::int64_t process) { return ::kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM; }

std::string quoted(const std::string& name) { return "\"" + name + "\""; }

constexpr const char* run_columns =
    "id, title, input, folder, flags, program, catalogue, fingerprint, part, parts, tasks, next_task, kept, started, saved, "
    "points, finished, summary";

StoredRun run_of(const Row& row) {
    StoredRun run;
    run.id = whole_of(row[0]);
    run.question = {
        cell_text(row[1]), cell_text(row[2]),
        cell_text(row[3]), cell_text(row[4]),
        cell_text(row[5]), cell_text(row[6]),
        cell_text(row[7]), {static_cast<std::uint64_t>(whole_of(row[8])), static_cast<std::uint64_t>(whole_of(row[9]))}};
    run.tasks = static_cast<std::uint64_t>(whole_of(row[10]));
    run.state.next_task = static_cast<std::uint64_t>(whole_of(row[11]));
    run.state.kept = std::holds_alternative<Blob>(row[12]) ? std::get<Blob>(row[12]).bytes : "";
    run.started = cell_text(row[13]);
    run.saved = cell_text(row[14]);
    run.points = whole_of(row[15]);
    run.finished = whole_of(row[16]) != 0;
    run.summary = cell_text(row[17]);
    return run;
}

}  // namespace

std::string hash_of(std::string_view bytes) {
    std::uint64_t hash = 14695981039346656037u;
    for (const char byte : bytes) {
        hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211u;
    }
    return fmt::format("{:016x}", hash);
}

std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts)};
}

std::string Question::whole_key() const {
    std::string all;
    for (const std::string* text : {&input, &flags, &program, &catalogue, &fingerprint}) {
        all += std::to_string(text->size()) + ":" + *text;
    }
    return hash_of(all);
}

std::string Question::key() const { return fmt::format("{} {}/{}", whole_key(), part.index + 1, part.count); }

Store::Store(const std::filesystem::path& path, Access access) : shown_(path.string()), database_(path, access) {
    check_version(access);
    if (access == Access::write) {
        create();
    }
}

void Store::check_version(Access access) {
    // Another process may be creating the store, its tables and its version at once: whoever sees its tables sees its version
    // afterwards.
    std::int64_t stored = 0, tables = 0;
    database_.run("SELECT count(*) FROM sqlite_master", {}, [&](const Row& row) { tables = whole_of(row[0]); });
    database_.run("PRAGMA user_version", {}, [&](const Row& row) { stored = whole_of(row[0]); });
    if (stored > version) {
        throw text::InputError({fmt::format(
            "{} is a store of version {}; this treeline reads versions up to {}: use a newer one", shown_, stored, version)});
    }
    if (stored == 0 && tables > 0) {
        throw text::InputError({shown_ + " is a database, but not a store of treeline"});
    }
    if (tables == 0 && stored == 0 && access == Access::read) {
        throw text::InputError({shown_ + " is an empty store: what began it was stopped before it kept anything"});
    }
}

void Store::create() {
    database_.at_once([&] {
        database_.run(
            "CREATE TABLE IF NOT EXISTS runs (id INTEGER PRIMARY KEY, question TEXT UNIQUE NOT NULL, title TEXT, input TEXT, "
            "folder TEXT, flags TEXT, program TEXT, catalogue TEXT, fingerprint TEXT, part INTEGER, parts INTEGER, tasks "
            "INTEGER, next_task INTEGER, kept BLOB, started TEXT, saved TEXT, points INTEGER, finished INTEGER, summary TEXT, "
            "process INTEGER, host TEXT, seen INTEGER)");
        database_.run(
            "CREATE TABLE IF NOT EXISTS rows (run INTEGER NOT NULL, list TEXT NOT NULL, place INTEGER NOT NULL, "
            "PRIMARY KEY (run, list, place))");
        database_.run(fmt::format("PRAGMA user_version = {}", std::int64_t{version}));
    });
}

StoredRun Store::claim(const Question& question, std::uint64_t tasks) {
    StoredRun run;
    database_.at_once([&] {
        const auto now = static_cast<std::int64_t>(std::time(nullptr));
        std::int64_t process = 0, seen = 0;
        std::string host;
        database_.run("SELECT ifnull(process, 0), host, ifnull(seen, 0), id FROM runs WHERE question = ?", {question.key()},
                      [&](const Row& row) {
                          process = whole_of(row[0]);
                          host = cell_text(row[1]);
                          seen = whole_of(row[2]);
                          run.id = whole_of(row[3]);
                      });
        const auto self = static_cast<std::int64_t>(::getpid());
        const bool lives = host == host_name() ? process != self && is_alive(process) : now - seen < silence_s;
        if (process != 0 && lives) {
            throw text::OutputError(
                fmt::format("{}: process {} on {} is working on this very question, as run {}; wait for it, or end it", shown_,
                            process, host, run.id));
        }
        if (run.id == 0) {
            const auto whole = [](std::uint64_t number) { return static_cast<std::int64_t>(number); };
            database_.run(
                "INSERT INTO runs (question, title, input, folder, flags, program, catalogue, fingerprint, part, parts, tasks, "
                "next_task, started, saved, points, finished) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)",
                {question.key(), question.title, question.input, question.folder, question.flags, question.program,
                 question.catalogue, question.fingerprint, whole(question.part.index), whole(question.part.count), whole(tasks),
                 whole(sweeps::tasks_of(question.part, tasks).first), utc_now(), utc_now()});
            run.id = database_.last_id();
        }
        database_.run("UPDATE runs SET process = ?, host = ?, seen = ? WHERE id = ?", {self, host_name(), now, run.id});
    });
    run = this->run(run.id);
    if (run.tasks != tasks) {
        throw text::InputError(
            {fmt::format("{}: run {} counts other tasks than this treeline; use another store", shown_, run.id)});
    }
    return run;
}

void Store::save(std::int64_t id, const sweeps::SweepState& state) {
    database_.run("UPDATE runs SET next_task = ?, kept = ?, saved = ?, seen = ? WHERE id = ?",
                  {static_cast<std::int64_t>(state.next_task), Blob{state.kept}, utc_now(),
                   static_cast<std::int64_t>(std::time(nullptr)), id});
}

void Store::release(std::int64_t id) { database_.run("UPDATE runs SET process = 0 WHERE id = ?", {id}); }

/// Columns that an older treeline did not have yet are added.
void Store::add_columns(const std::vector<std::string>& columns) {
    const std::vector<std::string> known = columns_of_rows();
    for (const std::string& column : columns) {
        if (std::find(known.begin(), known.end(), column) == known.end()) {
            database_.run("ALTER TABLE rows ADD COLUMN " + quoted(column));
        }
    }
}

std::vector<std::string> Store::columns_of_rows() {
    std::vector<std::string> columns;
    database_.run("PRAGMA table_info(rows)", {}, [&](const Row& row) { columns.push_back(cell_text(row[1])); });
    return columns;
}

void Store::finish(std::int64_t id, const sweeps::SweepState& state, std::int64_t points, const std::string& summary,
                   const std::vector<std::string>& columns, const std::vector<StoredRow>& rows) {
    std::string names = "run, list, place", marks = "?, ?, ?";
    for (const std::string& column : columns) {
        names += ", " + quoted(column);
        marks += ", ?";
    }
    database_.at_once([&] {
        add_columns(columns);
        database_.run("DELETE FROM rows WHERE run = ?", {id});
        for (const StoredRow& row : rows) {
            Row values = {id, row.list, row.place};
            values.insert(values.end(), row.cells.begin(), row.cells.end());
            database_.run("INSERT INTO rows (" + names + ") VALUES (" + marks + ")", values);
        }
        database_.run(
            "UPDATE runs SET next_task = ?, kept = ?, saved = ?, points = ?, finished = 1, summary = ?, process = 0 WHERE id = "
            "?",
            {static_cast<std::int64_t>(state.next_task), Blob{state.kept}, utc_now(), points, summary, id});
    });
}

std::vector<StoredRun> Store::runs() {
    std::vector<StoredRun> all;
    database_.run(fmt::format("SELECT {} FROM runs ORDER BY id", run_columns), {},
                  [&](const Row& row) { all.push_back(run_of(row)); });
    return all;
}

StoredRun Store::run(std::int64_t id) {
    std::optional<StoredRun> found;
    database_.run(fmt::format("SELECT {} FROM runs WHERE id = ?", run_columns), {id},
                  [&](const Row& row) { found = run_of(row); });
    if (!found) {
        std::vector<std::int64_t> known;
        for (const StoredRun& run : runs()) {
            known.push_back(run.id);
        }
        throw text::InputError({known.empty()
                                    ? shown_ + " holds no run yet"
                                    : fmt::format("{} has no run {}; it has {}", shown_, id, fmt::join(known, ", "))});
    }
    return *found;
}

std::vector<std::string> Store::rows(std::int64_t id, std::vector<Row>& rows) {
    std::vector<std::string> columns = columns_of_rows();
    columns.erase(columns.begin());  // the run
    std::string names;
    for (const std::string& column : columns) {
        names += (names.empty() ? "" : ", ") + quoted(column);
    }
    database_.run(fmt::format("SELECT {} FROM rows WHERE run = ? ORDER BY list, place", names), {id},
                  [&](const Row& row) { rows.push_back(row); });
    return columns;
}

}  // namespace treeline::store
