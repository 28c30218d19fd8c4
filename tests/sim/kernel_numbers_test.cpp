// The table of a law's parameters: in what units files hold them, what switches each off, and within what a fit looks for it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <string_view>

#include "sim/kernel_law.h"

namespace kernel_numbers_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

const KernelParameter& parameter(std::string_view name) {
    const auto& all = kernel_parameters();
    const auto found = std::find_if(all.begin(), all.end(), [&](const KernelParameter& each) { return each.name == name; });
    REQUIRE(found != all.end());
    return *found;
}

}  // namespace

TEST_CASE("a parameter's unit says how many of it one base unit has") {
    const std::map<std::string_view, double> units = {{"us", 1e6},   {"ns", 1e9},     {"ps", 1e12},
                                                      {"MB", 1e-6},  {"GB/s", 1e-9},  {"1", 1.0},
                                                      {"rows", 1.0}, {"inputs", 1.0}, {"outputs", 1.0}};
    for (const KernelParameter& each : kernel_parameters()) {
        INFO(each.name);
        REQUIRE(units.contains(each.unit));
        CHECK(each.in_unit == units.at(each.unit));
    }
}

TEST_CASE("a law of which nothing is stated has every parameter at what switches it off, and a parameter sets itself alone") {
    const KernelLaw plain;
    for (const KernelParameter& each : kernel_parameters()) {
        INFO(each.name);
        CHECK(each.get(plain) == each.neutral);
        KernelLaw changed;
        each.set(changed, 0.75);
        for (const KernelParameter& other : kernel_parameters()) {
            CHECK(other.get(changed) == (other.name == each.name ? 0.75 : other.neutral));
        }
    }
}

TEST_CASE("a fit looks for a time up to a second, and for shares of a data sheet up to what boost clocks bring") {
    for (const KernelParameter& each : kernel_parameters()) {
        INFO(each.name);
        CHECK(each.most > each.least);
        if (each.unit == "us" || each.unit == "ns" || each.unit == "ps") {
            CHECK(each.most == 1.0);
        }
    }
    for (const std::string_view name :
         {"bandwidth_share", "peak_share", "activation_share", "one_shot_share", "two_shot_share", "ring_share"}) {
        CHECK(parameter(name).most == 1.05);
    }
    // What is there or not, and what is hidden or not, is a whole at most; tiles and workers are counted.
    for (const std::string_view name : {"overlap", "by_ring", "packs_heads"}) {
        CHECK(parameter(name).most == 1.0);
    }
    for (const std::string_view name : {"row_tile", "least_tile", "tile_columns", "workers"}) {
        CHECK(parameter(name).most == 4096.0);
    }
    // A row that pads a tile costs a row at least, and one worker there is; wide heads and rings over more ranks reach a few
    // times as much at most.
    CHECK(parameter("padding").least == 1.0);
    CHECK(parameter("workers").least == 1.0);
    CHECK(parameter("wide_head_share").most == 2.0);
    CHECK(parameter("ring_scale_4").most == 4.0);
    CHECK(parameter("ring_scale_8").most == 4.0);
}

}  // namespace kernel_numbers_test
