// Compiled once: Catch2's main takes longer than most tests.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
