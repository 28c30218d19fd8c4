// Does nothing that others wrote act on a terminal, and is everything else left as it is?
#include <catch2/catch.hpp>

#include <string>

#include <nlohmann/json.hpp>

#include "text/csv.h"
#include "text/plain_text.h"

namespace plain_text_test {

using namespace treeline::text;

TEST_CASE("control characters become their codes") {
    CHECK(without_controls("plain\ttext\n") == "plain\ttext\n");
    CHECK(without_controls("\x1b[31mred") == "\\x1b[31mred");
    CHECK(without_controls("a\rb\x07\x7f") == "a\\x0db\\x07\\x7f");
    CHECK(without_controls(std::string_view("\0", 1)) == "\\x00");
    // U+009B is "ESC [" in one character, U+202E turns the line around, U+2028 breaks it.
    CHECK(without_controls("\xC2\x9B"
                           "1m \xE2\x80\xAE"
                           "abc \xE2\x80\xA8") == "\\x9b1m \\u202eabc \\u2028");
}

TEST_CASE("in JSON they become escapes, which mean the same") {
    const std::string text =
        "a\x7f\xC2\x9B"
        "1m \xE2\x80\xAE\xE2\x81\xA6\xE2\x80\x8F \xC2\xB5 \xF0\x9F\x99\x82";
    const nlohmann::json value = {{"name", text}, {"tab", "\t\x1b"}};
    const std::string written = json_without_controls(value.dump(2));
    CHECK(written.find("\"a\\u007f\\u009b1m \\u202e\\u2066\\u200f \xC2\xB5 \xF0\x9F\x99\x82\"") != std::string::npos);
    CHECK(nlohmann::json::parse(written) == value);
    CHECK(json_without_controls("{\"a\":\n1}") == "{\"a\":\n1}");
}

TEST_CASE("text of any language stays, and bytes that are no text do not") {
    const std::string text = "µs · Größe 漢字 🙂 é";
    CHECK(without_controls(text) == text);
    CHECK(as_utf8(text) == text);
    // RFC 3629, section 3: overlong forms, surrogates, beyond U+10FFFF, and sequences that are cut off.
    for (const std::string bytes :
         {"\xFF", "\x80", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"}) {
        CAPTURE(bytes);
        const std::string plain = without_controls("a" + bytes + "b"), valid = as_utf8("a" + bytes + "b");
        CHECK(plain.find("\\x") == 1);
        CHECK(plain.back() == 'b');
        CHECK(valid.find("\xEF\xBF\xBD") == 1);
        CHECK(as_utf8(valid) == valid);
    }
    CHECK(without_controls("\x9B") == "\\x9b");
}

TEST_CASE("UTF-16 of both orders becomes UTF-8") {
    using namespace std::string_literals;
    // "é€😀": U+00E9, U+20AC and the pair D83D DE00 of U+1F600.
    CHECK(utf8_of_utf16("\xFF\xFE\xE9\x00\xAC\x20\x3D\xD8\x00\xDE"s) == "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
    CHECK(utf8_of_utf16("\xFE\xFF\x00\xE9\x20\xAC\xD8\x3D\xDE\x00"s) == "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
    CHECK(utf8_of_utf16("\xFF\xFE\x3D\xD8\x41"s) == "\xEF\xBF\xBD");  // half of a pair, and half of a unit
}

TEST_CASE("fields of a table are UTF-8") {
    CsvReader reader("id,n\n\xFFx,1\n");
    REQUIRE(reader.next());
    CHECK(reader["id"] == "\xEF\xBF\xBDx");
}

TEST_CASE("the head of a text holds no part of a character") {
    CHECK(head("a\u20ACb", 5) == "a\u20ACb");
    CHECK(head("a\u20ACb", 4) == "a\u20AC");
    CHECK(head("a\u20ACb", 3) == "a");
    CHECK(head("\u20AC", 2).empty());
    CHECK(head("abc", 2) == "ab");
    CHECK(head("abc", 9) == "abc");
    CHECK(head("\x80\x80", 1).empty());
}

}  // namespace plain_text_test
