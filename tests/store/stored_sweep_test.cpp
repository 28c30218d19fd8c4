// Does a sweep that is killed at any moment go on from its store, to the same bytes?
#include <catch2/catch.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "requests/sweep/sweep_flags.h"
#include "setups.h"
#include "store/stored_sweep.h"
#include "text/input_error.h"
#include "text/output_file.h"

namespace stored_sweep_test {

using namespace treeline;
using namespace treeline::store;
using namespace treeline::testing;
namespace fs = std::filesystem;

namespace {

/// A folder of this test alone.
class Folder {
public:
    Folder() : path_(fs::temp_directory_path() / ("treeline-store-" + std::to_string(::getpid()))) {
        fs::remove_all(path_);
        fs::create_directories(path_);
    }
    ~Folder() { fs::remove_all(path_); }
    [[nodiscard]] fs::path file(const char* name) const { return path_ / name; }

private:
    fs::path path_;
};

requests::Catalogue catalogue() { return {source_folder() / "models", source_folder() / "hardware"}; }

/// A sweep of 53,248 points; with `contexts` it has more of them, and takes long enough to be killed on its way.
SweepRequest request(const std::string& flags, const std::string& contexts = R"({"from": 0, "to": 20000, "step": 800})") {
    const Question question{
        "", R"({"axes": {"target": "llama-3-8b", "device": ["h100-sxm", "l40s"], "stack": "vllm",
        "drafter": {"kind": "model", "model": "llama-3.2-1b", "acceptance": {"geometric": 0.8}}, "draft_tokens": {"from": 1, "to": 8},
        "batch": {"from": 1, "to": 128}, "context": )" + contexts + "}}",
        "", flags,
        "", "",
        "", {}};
    SweepRequest request = sweep_request(question, catalogue());
    request.options.threads = 1;
    request.options.save_seconds = 0.002;
    return request;
}

const char* const asked = R"({"group_by": "device,batch", "quantiles": "tpot_ms", "top": "20"})";

SweepRequest long_request() { return request(asked, R"({"from": 0, "to": 20000, "step": 8})"); }

/// In a process of its own: on its way until it is killed or done.
int answer_in_child(const fs::path& file) {
    try {
        Store store(file, Access::write);
        static_cast<void>(answer_from(store, long_request(), sweeps::run_sweep));
        return 0;
    } catch (...) {
        return 1;
    }
}

std::string kept_of(const fs::path& file) {
    Store store(file, Access::read);
    const std::vector<StoredRun> runs = store.runs();
    REQUIRE(runs.size() == 1);
    REQUIRE(runs.front().finished);
    std::vector<Row> rows;
    std::string text = runs.front().state.kept + runs.front().summary;
    for (const std::string& column : store.rows(runs.front().id, rows)) {
        text += column + ",";
    }
    for (const Row& row : rows) {
        for (const Cell& cell : row) {
            text += cell_text(cell) + ",";
        }
    }
    return text;
}

/// Starts a process and kills it after so many microseconds; whether it was still running.
bool killed_after(const fs::path& file, unsigned microseconds) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::_exit(answer_in_child(file));
    }
    ::usleep(microseconds);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status);
}

}  // namespace

TEST_CASE("after kill -9 at a hundred random moments a sweep goes on to the same bytes", "[slow]") {
    const Folder folder;
    Store undisturbed(folder.file("whole.sqlite"), Access::write);
    static_cast<void>(answer_from(undisturbed, long_request(), sweeps::run_sweep));
    const std::string expected = kept_of(folder.file("whole.sqlite"));
    std::mt19937 random(29);
    std::size_t kills = 0, went_on = 0, sweeps_run = 0;
    while ((kills < 100 || went_on == 0) && sweeps_run < 400) {
        const fs::path file = folder.file("killed.sqlite");
        fs::remove(file);
        ++sweeps_run;
        // Later attempts last longer, so that some end, and some stop half way; this process then goes on with what they left.
        const auto attempts = 1 + static_cast<unsigned>(random() % 12);
        for (unsigned attempt = 0; attempt < attempts; ++attempt) {
            if (!killed_after(file, 1000 + static_cast<unsigned>(random() % 30'000) * (attempt + 1))) {
                break;
            }
            ++kills;
        }
        Store store(file, Access::write);
        const StoredAnswer answer = answer_from(store, long_request(), sweeps::run_sweep);
        went_on += answer.went_on_at > 0 ? 1 : 0;
        CHECK(kept_of(file) == expected);
    }
    CHECK(kills >= 100);
    CHECK(went_on > 0);
    WARN(kills << " kills of " << sweeps_run << " sweeps; " << went_on << " went on from what the last process had saved");
}

TEST_CASE("a full disk ends in a sentence, and the sweep goes on once there is room") {
    const Folder folder;
    const fs::path file = folder.file("full.sqlite");
    const pid_t child = ::fork();
    if (child == 0) {
        const rlimit limit{20'000, 20'000};  // bytes of a file
        ::setrlimit(RLIMIT_FSIZE, &limit);
        ::signal(SIGXFSZ, SIG_IGN);
        int code = 3;
        try {
            Store store(file, Access::write);
            static_cast<void>(answer_from(store, request(asked), sweeps::run_sweep));
        } catch (const text::OutputError& error) {
            code = std::string(error.what()).find("the disk is full, or fails") != std::string::npos ? 0 : 2;
        } catch (...) {
            code = 1;
        }
        ::_exit(code);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    Store store(file, Access::write);
    Store whole(folder.file("whole.sqlite"), Access::write);
    static_cast<void>(answer_from(store, request(asked), sweeps::run_sweep));
    static_cast<void>(answer_from(whole, request(asked), sweeps::run_sweep));
    CHECK(kept_of(file) == kept_of(folder.file("whole.sqlite")));
}

TEST_CASE("two processes may write one store, but only one of them works on a question") {
    const Folder folder;
    const fs::path file = folder.file("both.sqlite");
    int ready[2], go[2];
    REQUIRE(::pipe(ready) == 0);
    REQUIRE(::pipe(go) == 0);
    const pid_t child = ::fork();
    if (child == 0) {  // claims a question and holds it until it is told to end
        try {
            Store store(file, Access::write);
            static_cast<void>(store.claim(request(asked).question, 1));
            char byte = 1;
            static_cast<void>(::write(ready[1], &byte, 1));
            static_cast<void>(::read(go[0], &byte, 1));
        } catch (...) {}
        ::_exit(0);
    }
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    Store store(file, Access::write);
    CHECK_THROWS_WITH(store.claim(request(asked).question, 1),
                      Catch::Contains("process " + std::to_string(child)) && Catch::Contains("working on this very question"));
    // Another question of the same store is free.
    const SweepRequest other = request(R"({"group_by": "batch"})");
    const StoredAnswer answer = answer_from(store, other, sweeps::run_sweep);
    CHECK_FALSE(answer.was_known);
    CHECK(answer_from(store, other, sweeps::run_sweep).was_known);
    REQUIRE(::write(go[1], &byte, 1) == 1);
    ::waitpid(child, nullptr, 0);
    CHECK(store.claim(request(asked).question, 1).tasks == 1);  // the process that had it is dead
}

TEST_CASE("a store of a newer version, another database and a damaged file are sentences") {
    const Folder folder;
    { Store store(folder.file("newer.sqlite"), Access::write); }
    {
        Database database(folder.file("newer.sqlite"), Access::write);
        database.run("PRAGMA user_version = 9");
        Database other(folder.file("other.sqlite"), Access::write);
        other.run("CREATE TABLE t (a)");
    }
    CHECK_THROWS_WITH(Store(folder.file("newer.sqlite"), Access::write),
                      Catch::Contains("store of version 9") && Catch::Contains("reads versions up to 1"));
    CHECK_THROWS_WITH(Store(folder.file("other.sqlite"), Access::read), Catch::Contains("not a store of treeline"));
    std::ofstream(folder.file("text.sqlite")) << std::string(5000, 'x');
    CHECK_THROWS_WITH(Store(folder.file("text.sqlite"), Access::read), Catch::Contains("no SQLite database, or damaged"));
    // A value's length is beyond memory.
    const auto runs_of = [](const std::filesystem::path& file) { return Store(file, Access::read).runs(); };
    const std::filesystem::path corpus = testing::source_folder() / "tests" / "fuzz" / "corpus" / "store";
    CHECK_THROWS_WITH(runs_of(corpus / "length_beyond_memory.db"), Catch::Contains("is damaged, or takes more memory"));
}

TEST_CASE("unknown columns and axes are refused with the nearest name, and empty groups hold nothing") {
    const auto problem = [](const std::string& flags) {
        try {
            static_cast<void>(request(flags));
        } catch (const text::InputError& error) {
            return error.problems().front();
        }
        return std::string();
    };
    CHECK_THAT(problem(R"({"by": "tpot_m"})"), Catch::Contains("did you mean \"tpot_ms\""));
    CHECK_THAT(problem(R"({"quantiles": "speed_up"})"), Catch::Contains("did you mean \"speedup\""));
    CHECK_THAT(problem(R"({"where": "memory_g<=20"})"), Catch::Contains("did you mean \"memory_gb\""));
    CHECK_THAT(problem(R"({"group_by": "devise"})"), Catch::Contains("did you mean \"device\""));
    const Folder folder;
    Store store(folder.file("empty.sqlite"), Access::write);
    const StoredAnswer nothing =
        answer_from(store, request(R"({"group_by": "device", "where": "tpot_ms<=0.0001"})"), sweeps::run_sweep);
    REQUIRE(nothing.summary.groups.size() == 1);
    CHECK(nothing.summary.groups.front().entries.empty());
    CHECK(nothing.summary.best.empty());
    CHECK(nothing.summary.beyond_limits > 0);
    std::vector<Row> rows;
    static_cast<void>(store.rows(nothing.run, rows));
    CHECK(rows.empty());
    // A group that holds nothing is left out, the others are there: only the faster device keeps this limit.
    const StoredAnswer some =
        answer_from(store, request(R"({"group_by": "device", "where": "tpot_ms<=6"})"), sweeps::run_sweep);
    REQUIRE(some.summary.groups.front().entries.size() == 1);
    CHECK(some.summary.groups.front().entries.front().values == std::vector<std::string>{"h100-sxm"});
}

}  // namespace stored_sweep_test
