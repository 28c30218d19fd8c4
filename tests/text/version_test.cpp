// Versions as people write them, and the one that stands for another.
#include "text/version.h"

#include <catch2/catch.hpp>

namespace version_test {

using namespace treeline::text;

TEST_CASE("months are written out") {
    CHECK(month_text("2026-02") == "February 2026");
    CHECK(month_text("2025-12") == "December 2025");
    for (const char* other : {"", "2026", "2026-13", "2026-00", "2026/02", "2026-2", "26-02-01"}) {
        CHECK(month_text(other).empty());
    }
}

TEST_CASE("a version is the numbers that a text begins with") {
    CHECK(version_in("0.12.1") == Version{0, 12, 1});
    CHECK(version_in("0.10.1rc2") == Version{0, 10, 1});
    CHECK(version_in("0.5.1.post3") == Version{0, 5, 1});
    CHECK(version_in("9987") == Version{9987});
    CHECK(version_in("1.") == Version{1});
    CHECK(version_in("v0.12").empty());
    CHECK(version_in("").empty());
    CHECK(version_in("-1.2").empty());
    CHECK(version_in("99999999999999999999").empty());
}

TEST_CASE("the newest version that is not newer stands for another one, or else the oldest") {
    const std::vector<Version> known = {{0, 14}, {}, {0, 10}, {0, 12}};
    CHECK(nearest_version(known, {0, 12}) == 3U);
    CHECK(nearest_version(known, {0, 13, 5}) == 3U);
    CHECK(nearest_version(known, {1}) == 0U);
    CHECK(nearest_version(known, {0, 12, 1}) == 3U);
    CHECK(nearest_version(known, {0, 9}) == 2U);
    CHECK_FALSE(nearest_version({{}, {}}, {1}).has_value());
    // Who states fewer numbers means the newest of these.
    const std::vector<Version> patches = {{0, 31}, {0, 32, 0}, {0, 32, 1}};
    CHECK(nearest_version(patches, {0, 32}) == 2U);
    CHECK(nearest_version(patches, {0, 32, 0}) == 1U);
    CHECK(nearest_version(patches, {0, 32, 5}) == 2U);
    CHECK(nearest_version(patches, {0, 31, 2}) == 0U);
    CHECK(nearest_version(patches, {0, 33}) == 2U);
}

TEST_CASE("a name states its release as four digits between dashes") {
    CHECK(release_in("lmsys/EAGLE3-Qwen3-30B-A3B-Instruct-2507-SpecForge") == "2507");
    CHECK(release_in("deepseek-ai/DeepSeek-R1-0528") == "0528");
    CHECK(release_in("Qwen/Qwen3-8B").empty());
    CHECK(release_in("a/b-12345-1234-25x7").empty());  // of other numbers of digits, or no year and no month
}

}  // namespace version_test
