// Loads of measured runs as points of the cost model.
#include <catch2/catch.hpp>

#include "requests/loop/diagnosis_request.h"

namespace points_of_runs_test {

using namespace treeline;

TEST_CASE("mean lengths of requests become whole lengths of points") {
    runs::RunCell cell;
    cell.batch = 1.0;
    cell.prompt_tokens = 1052.17;
    cell.output_tokens = 258.06;
    cell.tpot.add(0.018);
    const auto point = requests::point_of_load(cell, {{"batch", 1}});
    CHECK(point["prompt_tokens"] == 1052.0);
    CHECK(point["output_tokens"] == 258.0);
    CHECK(point["batch"] == 1);
}

}  // namespace points_of_runs_test
