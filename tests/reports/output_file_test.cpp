// Files appear whole or not at all. (Full disks and closed pipes: tests/cli/output_files.sh.)
#include "text/output_file.h"

#include <fstream>
#include <sstream>

#include <unistd.h>
#include <catch2/catch.hpp>

namespace output_file_test {

using namespace treeline;

namespace {

namespace fs = std::filesystem;

/// An empty folder that goes away with the test.
struct Folder {
    fs::path path = fs::temp_directory_path() / ("treeline-output-" + std::to_string(::getpid()));
    Folder() {
        fs::remove_all(path);
        fs::create_directories(path);
    }
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    [[nodiscard]] std::size_t files() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
    }
};

std::string content(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("a file has its name only once it is whole") {
    const Folder folder;
    const fs::path path = folder.path / "result.csv";
    {
        text::OutputFile file(path);
        file.write(std::string(1u << 20, 'x'));  // more than the buffer
        CHECK_FALSE(fs::exists(path));
        file.write("end");
        file.commit();
    }
    CHECK(fs::file_size(path) == (1u << 20) + 3);
    CHECK(folder.files() == 1);
}

TEST_CASE("a file that is given up leaves nothing, and what was there stays") {
    const Folder folder;
    const fs::path path = folder.path / "result.csv";
    text::write_file(path, "before");
    {
        text::OutputFile file(path);
        file.write("half of the new");
    }
    CHECK(content(path) == "before");
    CHECK(folder.files() == 1);
}

TEST_CASE("a file is replaced") {
    const Folder folder;
    const fs::path path = folder.path / "result.csv";
    text::write_file(path, "a long first content");
    text::write_file(path, "second");
    CHECK(content(path) == "second");
    CHECK(folder.files() == 1);
}

TEST_CASE("names that cannot be written are refused with a sentence") {
    const Folder folder;
    CHECK_THROWS_WITH(text::OutputFile(folder.path / "no" / "file"),
                      Catch::Contains("cannot be created (No such file or directory)"));
    CHECK_THROWS_WITH(text::OutputFile(folder.path), Catch::Contains("is a directory"));
    CHECK_THROWS_WITH(text::OutputFile(""), Catch::Contains("is empty"));
    CHECK_THROWS_AS(text::write_file("/dev/full", "x"), text::OutputError);
    CHECK(folder.files() == 0);
}

TEST_CASE("devices are written straight") { CHECK_NOTHROW(text::write_file("/dev/null", "gone")); }

}  // namespace output_file_test
