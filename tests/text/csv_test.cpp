// Does the reader of CSV take what spreadsheets and scripts write?
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "text/csv.h"
#include "text/parse_number.h"
#include "text/table.h"

namespace treeline::text::csv_test {
namespace {

using Fields = std::vector<std::string>;

std::vector<Fields> rows_of(std::string_view text) {
    CsvReader csv(text);
    std::vector<Fields> rows = {csv.header()};
    while (csv.next()) {
        rows.push_back(csv.fields());
    }
    return rows;
}

}  // namespace

TEST_CASE("CSV: the examples of RFC 4180, section 2") {
    CHECK(rows_of("aaa,bbb,ccc\r\nzzz,yyy,xxx\r\n") == std::vector<Fields>{{"aaa", "bbb", "ccc"}, {"zzz", "yyy", "xxx"}});
    CHECK(rows_of("aaa,bbb,ccc\r\nzzz,yyy,xxx") == std::vector<Fields>{{"aaa", "bbb", "ccc"}, {"zzz", "yyy", "xxx"}});
    CHECK(rows_of("\"aaa\",\"bbb\",\"ccc\"\r\nzzz,yyy,xxx") ==
          std::vector<Fields>{{"aaa", "bbb", "ccc"}, {"zzz", "yyy", "xxx"}});
    CHECK(rows_of("\"aaa\",\"b\r\nbb\",\"ccc\"\r\nzzz,yyy,xxx") ==
          std::vector<Fields>{{"aaa", "b\r\nbb", "ccc"}, {"zzz", "yyy", "xxx"}});
    CHECK(rows_of("\"aaa\",\"b\"\"bb\",\"ccc\"") == std::vector<Fields>{{"aaa", "b\"bb", "ccc"}});
}

TEST_CASE("CSV for spreadsheets: texts that would be formulas are texts") {
    CHECK(for_spreadsheet("name,value\n=1+1,-1\n@x,+y\nplain,1e-3\n") == "name,value\n'=1+1,-1\n'@x,'+y\nplain,1e-3\n");
    const std::vector<std::string> fields = {"=cmd|\"/c calc\"!A0, x", "-", "-0.5", "a=b", "", "two\n=lines"};
    CHECK(rows_of(for_spreadsheet(csv_line(fields))) ==
          std::vector<Fields>{{"'=cmd|\"/c calc\"!A0, x", "'-", "-0.5", "a=b", "", "two\n=lines"}});
    CHECK(for_spreadsheet("") == "");
    CHECK(for_spreadsheet("\"=open") == "\"'=open");
}

TEST_CASE("CSV: quotes, empty fields and spaces") {
    CHECK(rows_of("a,\"\",\"\"\"\",\"x, y\" ,") == std::vector<Fields>{{"a", "", "\"", "x, y", ""}});
    CHECK(rows_of(" a ,\tb\n,\n 5\" , x") == std::vector<Fields>{{"a", "b"}, {"", ""}, {"5\"", "x"}});
}

TEST_CASE("CSV: a byte order mark, comments and empty lines do not count, but their lines do") {
    const std::string text = "\xEF\xBB\xBF# measured by hand\n\na,b\n\"1\n2\",3\n  # more\n \t\r\n4,5\n6\n";
    CsvReader csv(text);
    CHECK(csv.header() == Fields{"a", "b"});
    REQUIRE(csv.next());
    CHECK(csv.line() == 4);
    CHECK(csv["a"] == "1\n2");
    CHECK(csv["b"] == "3");
    REQUIRE(csv.next());
    CHECK(csv.line() == 8);
    CHECK(csv.problem().empty());
    CHECK(csv["b"] == "5");
    REQUIRE(csv.next());
    CHECK(csv.line() == 9);
    CHECK(csv.problem() == "has 1 fields, but the header has 2");
    CHECK_FALSE(csv.next());
    CHECK(csv.column("b") == 1);
    CHECK_FALSE(csv.column("c"));
}

TEST_CASE("CSV: what is empty has no header, and an open quote is a problem") {
    CHECK(CsvReader("").header().empty());
    CHECK(CsvReader("# nothing\n\n").header().empty());
    CsvReader open("a,b\n1,\"2\n3,4\n");
    REQUIRE(open.next());
    CHECK(open.problem() == "opens a quote that is never closed");
    CHECK_FALSE(open.next());
}

TEST_CASE("numbers: all of the text, finite, within the type") {
    CHECK(parse_number("1e-3") == 0.001);
    CHECK(parse_number("-2") == -2.0);
    CHECK(parse_number<int>("-2") == -2);
    CHECK(parse_number<int>("2147483647") == 2147483647);
    for (const char* text : {"", " 1", "1 ", "+1", "1,5", "1x", "nan", "inf", "1e999"}) {
        CHECK_FALSE(parse_number(text));
    }
    for (const char* text : {"", "1.0", "2147483648", "1e3", "0x10"}) {
        CHECK_FALSE(parse_number<int>(text));
    }
    CHECK_FALSE(parse_number<unsigned>("-1"));
}

}  // namespace treeline::text::csv_test
