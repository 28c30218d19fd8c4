// The progress bar as text.
#include "cli/progress.h"

#include <catch2/catch.hpp>

namespace progress_test {

using namespace treeline;
using namespace treeline::cli;

TEST_CASE("the progress line shows what is left") {
    CHECK(progress_line(5'000'000, 10'000'000, 4.0) ==
          "[###############---------------]  50 %  5.00 M of 10.0 M points, 1.25 M/s, 4 s left");
    CHECK(progress_line(0, 0, 1.0).find("100 %") != std::string::npos);
    CHECK(progress_line(1, 1'000'000, 1.0).find("h left") != std::string::npos);  // a million seconds
}

}  // namespace progress_test
