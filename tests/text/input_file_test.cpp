// Are pipes read like files, by everyone who asks?
#include <cstdio>
#include <string>

#include <unistd.h>
#include <catch2/catch.hpp>

#include "text/input_error.h"
#include "text/input_file.h"

namespace treeline::text::input_file_test {

namespace {

/// A pipe that says this, and its path.
struct Pipe {
    explicit Pipe(const std::string& says) {
        int ends[2];
        REQUIRE(::pipe(ends) == 0);
        REQUIRE(::write(ends[1], says.data(), says.size()) == static_cast<ssize_t>(says.size()));
        ::close(ends[1]);
        end = ends[0];
        path = "/dev/fd/" + std::to_string(end);
    }
    ~Pipe() { ::close(end); }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    int end = -1;
    std::string path;
};

}  // namespace

TEST_CASE("a pipe says the same to whoever reads it again") {
    const Pipe pipe("{\"kind\": \"gpu\"}");
    CHECK(read_file(pipe.path) == "{\"kind\": \"gpu\"}");
    CHECK(read_file(pipe.path) == "{\"kind\": \"gpu\"}");
}

TEST_CASE("a pipe that never ends is read up to the limit") {
    const Pipe pipe(std::string(5000, ' '));
    CHECK_THROWS_AS(read_file(pipe.path, 1000), InputError);
    CHECK_THROWS_AS(read_file("/dev/zero", 1000), InputError);
}

}  // namespace treeline::text::input_file_test
