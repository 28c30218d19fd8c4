// Text for people: nothing in it moves a cursor, changes a title or hides a word.
#pragma once

#include <string>
#include <string_view>

namespace treeline::text {

/// Control characters but line feed and tab, marks that reverse the direction of writing, and bytes that are not UTF-8 become
/// their codes, as in "\x1b" and "\u202e". Names, titles and keys come from files that others wrote.
std::string without_controls(std::string_view text);

/// JSON of the same values, with these characters escaped as "\u202e"; those below U+0020 a writer of JSON has escaped.
std::string json_without_controls(std::string_view json);

/// As much of its beginning as `longest` bytes hold without a part of a character.
std::string_view head(std::string_view text, std::size_t longest);

/// The text with U+FFFD in place of bytes that are not UTF-8.
std::string as_utf8(std::string_view text);

/// The text of UTF-16 that begins with its mark of byte order, without that mark; U+FFFD in place of halves of a pair.
std::string utf8_of_utf16(std::string_view bytes);

}  // namespace treeline::text
