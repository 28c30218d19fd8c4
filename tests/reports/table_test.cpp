// Numbers, tables and CSV as text.
#include "text/table.h"

#include <cmath>
#include <cstdlib>
#include <locale>

#include <catch2/catch.hpp>

#include "text/number_text.h"

namespace table_test {

using namespace treeline;

TEST_CASE("engineering text keeps three digits and picks the prefix") {
    CHECK(text::engineering_text(0.00456, "s") == "4.56 ms");
    CHECK(text::engineering_text(19.4e9, "B") == "19.4 GB");
    CHECK(text::engineering_text(0.0, "s") == "0 s");
    CHECK(text::engineering_text(512.0, "FLOP") == "512 FLOP");
    CHECK(text::engineering_text(1.5e-7, "s") == "150 ns");
    CHECK(text::engineering_text(-2.5e-3, "s") == "-2.50 ms");
    CHECK(text::engineering_text(1e-20, "J") == "1.00e-20 J");
    CHECK(text::engineering_text(std::nan(""), "s") == "nan s");
}

TEST_CASE("rounding up moves on to the next prefix") {
    CHECK(text::engineering_text(999.7e6, "B") == "1.00 GB");
    CHECK(text::engineering_text(999.4e6, "B") == "999 MB");
    CHECK(text::engineering_text(9.996e-3, "s") == "10.0 ms");
    CHECK(text::engineering_text(99.96e-3, "s") == "100 ms");
}

TEST_CASE("short numbers") {
    CHECK(text::short_text(4.0) == "4");
    CHECK(text::short_text(4.567) == "4.57");
    CHECK(text::short_text(45.67) == "45.7");
    CHECK(text::short_text(0.01234) == "0.0123");
    CHECK(text::short_text(12345.6) == "12346");
    CHECK(text::short_text(2.5e7) == "2.50e+07");
    CHECK(text::short_text(1e-9) == "1.00e-09");
    CHECK(text::ratio_text(1.978) == "1.98x");
    CHECK(text::ratio_text(1234.5) == "1234x");
    CHECK(text::percent_text(0.1234) == "12.3 %");
    CHECK(text::grouped_text(8030261248) == "8,030,261,248");
    CHECK(text::grouped_text(-999) == "-999");
    CHECK(text::parameters_text(8030261248.0) == "8.03 B");
    CHECK(text::parameters_text(128989632.0) == "129 M");
    CHECK(text::dollars_text(12.345) == "$12.35");
    CHECK(text::dollars_text(0.71) == "$0.71");
    CHECK(text::dollars_text(0.01234) == "$0.0123");
}

TEST_CASE("exact text reads back as the same double") {
    for (const double value : {0.1, 1.0 / 3.0, 1e-300, 123456789.0, 5e-324}) {
        CHECK(std::strtod(text::exact_text(value).c_str(), nullptr) == value);
    }
    CHECK(text::exact_text(0.1) == "0.1");
}

TEST_CASE("no number depends on the locale") {
    struct GermanNumbers : std::numpunct<char> {
        char do_decimal_point() const override { return ','; }
        char do_thousands_sep() const override { return '.'; }
        std::string do_grouping() const override { return "\3"; }
    };
    const std::locale before = std::locale::global(std::locale(std::locale::classic(), new GermanNumbers));
    const std::string text = text::exact_text(1234.5) + text::engineering_text(0.00456, "s") + text::fixed_text(1234.5, 1);
    std::locale::global(before);
    CHECK(text == "1234.54.56 ms1234.5");
}

TEST_CASE("columns are aligned by characters, and no line ends in spaces") {
    text::TextTable table({{"name", text::Align::left}, {"value"}, {"note", text::Align::left}});
    table.add({"α", "1.5", "first"});
    table.add({"beta", "10.25"});
    table.add_rule();
    table.add({"sum", "11.75", ""});
    CHECK(table.text() ==
          "name  value  note\n"
          "----  -----  -----\n"
          "α       1.5  first\n"
          "beta  10.25\n"
          "----  -----  -----\n"
          "sum   11.75\n");
    CHECK_THROWS_AS(table.add({"1", "2", "3", "4"}), std::invalid_argument);
}

TEST_CASE("CSV fields are quoted where they must be") {
    CHECK(text::csv_line({"plain", "with, comma", "with \"quotes\"", "two\nlines", " space", ""}) ==
          "plain,\"with, comma\",\"with \"\"quotes\"\"\",\"two\nlines\",\" space\",\n");
}

TEST_CASE("text is broken between words") {
    CHECK(text::wrapped("one two three four", 9, "  ") == "one two\n  three\n  four");
    CHECK(text::wrapped("unbreakable-word x", 5) == "unbreakable-word\nx");
    CHECK(text::wrapped("", 10).empty());
}

}  // namespace table_test
