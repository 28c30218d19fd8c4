// Compiled once: Catch2's main takes longer than most tests.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "shared_measurements.h"

/// 0: passed; 77: passed, but tests lacked their measurements; 1: failed, or nothing was run where the command line forbids
/// that.
int main(int arguments, char** values) {
    if (Catch::Session().run(arguments, values) != 0) {
        return 1;
    }
    return treeline::testing::missed_measurements() ? treeline::testing::skipped_exit_code : 0;
}
