// Does a number read the same by every standard library?
#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "text/parse_number.h"

namespace treeline::text::parse_number_test {

TEST_CASE("the reader by strtod agrees with the standard library's on texts that are nearly numbers") {
    std::mt19937_64 random(20261125);
    const std::string_view letters = "0123456789.eE+-x n";
    int numbers = 0;
    for (int i = 0; i < 200'000; ++i) {
        std::string text;
        const std::size_t length = 1 + random() % 9;
        while (text.size() < length) {
            // Digits are half of what is drawn, so that many texts are numbers.
            text += random() % 2 == 0 ? letters[random() % 10] : letters[random() % letters.size()];
        }
        const std::optional<double> expected = parse_double(text);
        numbers += expected ? 1 : 0;
        INFO(text);
        REQUIRE(parse_double_by_strtod(text) == expected);
    }
    CHECK(numbers > 20'000);
}

TEST_CASE("a number has no sign, space or word around it, and is finite") {
    for (const auto read : {&parse_double, &parse_double_by_strtod}) {
        CHECK(read("0.5") == 0.5);
        CHECK(read("-2") == -2.0);
        CHECK(read("1e-3") == 0.001);
        CHECK(read(".5") == 0.5);
        CHECK(read("4.9e-324") == std::numeric_limits<double>::denorm_min());
        for (const char* text :
             {"", "+1", " 1", "1 ", "0x10", "nan", "inf", "-inf", "1e400", "1e-400", "1,5", "1e", "e5", "-", "."}) {
            INFO(text);
            CHECK_FALSE(read(text));
        }
    }
    CHECK(parse_number<int>("12") == 12);
    CHECK_FALSE(parse_number<int>("12.0"));
    CHECK_FALSE(parse_number<std::uint64_t>("-1"));
}

}  // namespace treeline::text::parse_number_test
