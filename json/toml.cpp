#include "json/toml.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "json/parse.h"
#include "text/parse_number.h"
#include "text/plain_text.h"

namespace treeline::json {
namespace {

using TomlTree = nlohmann::ordered_json;
using KeyPath = std::vector<std::string>;

/// Why the text is not TOML, thrown where that is found.
struct TomlFailure {
    std::string why;
};

bool is_bare(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; }

/// The letter of a code point in UTF-8; nothing for one that does not exist.
std::string utf8_of_code(unsigned long code) {
    std::string bytes;
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
        return bytes;
    }
    const auto continued = [&](int shift) { bytes += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
    if (code < 0x80) {
        bytes += static_cast<char>(code);
    } else if (code < 0x800) {
        bytes += static_cast<char>(0xC0 | (code >> 6));
        continued(0);
    } else if (code < 0x10000) {
        bytes += static_cast<char>(0xE0 | (code >> 12));
        continued(6);
        continued(0);
    } else {
        bytes += static_cast<char>(0xF0 | (code >> 18));
        continued(12);
        continued(6);
        continued(0);
    }
    return bytes;
}

class TomlReader {
public:
    TomlReader(std::string_view text, std::vector<std::string>& repeated) : text_(text), repeated_(repeated) {}

    TomlTree read() {
        TomlTree root = TomlTree::object();
        TomlTree* table = &root;
        for (skip_lines(); at_ < text_.size(); skip_lines()) {
            if (next() == '[') {
                table = &open_table(root);
            } else {
                read_entry(*table, 1);
            }
            end_line();
        }
        return root;
    }

private:
    [[noreturn]] void fail(const std::string& why) const {
        const std::string_view before = text_.substr(0, at_);
        const std::size_t feed = before.rfind('\n');
        throw TomlFailure{"is not TOML at line " + std::to_string(1 + std::count(before.begin(), before.end(), '\n')) +
                          ", column " + std::to_string(1 + at_ - (feed == std::string_view::npos ? 0 : feed + 1)) + ": " + why};
    }

    [[nodiscard]] char next(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
    [[nodiscard]] bool starts(std::string_view word) const { return text_.substr(at_).starts_with(word); }

    bool take(char c) {
        const bool is_next = at_ < text_.size() && next() == c;
        at_ += is_next ? 1 : 0;
        return is_next;
    }

    void skip_blanks() {
        while (next() == ' ' || next() == '\t') {
            ++at_;
        }
    }

    void skip_comment() {
        if (next() == '#') {
            at_ = std::min(text_.find('\n', at_), text_.size());
        }
    }

    /// Blanks, comments and ends of lines.
    void skip_lines() {
        for (std::size_t before = text_.size() + 1; before != at_;) {
            before = at_;
            skip_blanks();
            skip_comment();
            while (next() == '\n' || next() == '\r') {
                ++at_;
            }
        }
    }

    void end_line() {
        skip_blanks();
        skip_comment();
        at_ += next() == '\r' ? 1 : 0;
        if (at_ < text_.size() && next() != '\n') {
            fail("more follows the value; strings stand in quotes");
        }
    }

    std::string read_key_part() {
        if (next() == '"' || next() == '\'') {
            return read_string();
        }
        const std::size_t begin = at_;
        while (is_bare(next())) {
            ++at_;
        }
        if (at_ == begin) {
            fail("a key is missing");
        }
        return std::string(text_.substr(begin, at_ - begin));
    }

    KeyPath read_key() {
        KeyPath path;
        do {
            skip_blanks();
            path.push_back(read_key_part());
            skip_blanks();
            if (path.size() > deepest_nesting) {
                throw TomlFailure{too_deep_text()};
            }
        } while (next() == '.' && take('.'));
        return path;
    }

    /// What stands under a key, null where it is new. The table compares a key with all before it.
    static TomlTree& member(TomlTree& table, const std::string& key) {
        TomlTree& found = table[key];
        if (table.size() > most_toml_keys) {
            throw TomlFailure{"holds a table of more than " + std::to_string(most_toml_keys) + " keys"};
        }
        return found;
    }

    /// The table under a key; the last of an array of tables.
    TomlTree& table_at(TomlTree& table, const std::string& key) {
        TomlTree& inside = member(table, key);
        if (inside.is_null()) {
            count();
            inside = TomlTree::object();
        }
        TomlTree& found = inside.is_array() && !inside.empty() ? inside.back() : inside;
        if (!found.is_object()) {
            fail("\"" + key + "\" is a value, not a table");
        }
        return found;
    }

    TomlTree& open_table(TomlTree& root) {
        take('[');
        const bool of_array = next() == '[' && take('[');
        const KeyPath path = read_key();
        if (!take(']') || (of_array && !take(']'))) {
            fail("the name of a table ends with a bracket");
        }
        TomlTree* table = &root;
        for (std::size_t i = 0; i + 1 < path.size(); ++i) {
            table = &table_at(*table, path[i]);
        }
        if (!of_array) {
            return table_at(*table, path.back());
        }
        TomlTree& list = member(*table, path.back());
        list = list.is_null() ? TomlTree::array() : std::move(list);
        if (!list.is_array()) {
            fail("\"" + path.back() + "\" is no list of tables");
        }
        count();
        list.push_back(TomlTree::object());
        return list.back();
    }

    void read_entry(TomlTree& table, std::size_t depth) {
        const KeyPath path = read_key();
        if (!take('=')) {
            fail("a key is followed by =");
        }
        skip_blanks();
        TomlTree* place = &table;
        for (std::size_t i = 0; i + 1 < path.size(); ++i) {
            place = &table_at(*place, path[i]);
        }
        if (place->contains(path.back())) {
            repeated_.push_back(path.back());
        }
        TomlTree value = read_value(depth + path.size());
        member(*place, path.back()) = std::move(value);
    }

    TomlTree read_value(std::size_t depth) {
        count();
        if (depth > deepest_nesting) {
            throw TomlFailure{too_deep_text()};
        }
        switch (next()) {
            case '"':
            case '\'':
                return read_string();
            case '[':
                return read_array(depth);
            case '{':
                return read_inline_table(depth);
            default:
                return read_bare_value();
        }
    }

    TomlTree read_array(std::size_t depth) {
        TomlTree array = TomlTree::array();
        ++at_;
        for (skip_lines(); next() != ']'; skip_lines()) {
            array.push_back(read_value(depth + 1));
            skip_lines();
            if (next() != ',' && next() != ']') {
                fail("a list goes on with a comma or ends with a bracket");
            }
            at_ += next() == ',' ? 1 : 0;
        }
        ++at_;
        return array;
    }

    TomlTree read_inline_table(std::size_t depth) {
        TomlTree table = TomlTree::object();
        ++at_;
        for (skip_lines(); next() != '}'; skip_lines()) {
            read_entry(table, depth + 1);
            skip_lines();
            if (next() != ',' && next() != '}') {
                fail("a table in braces goes on with a comma or ends with a brace");
            }
            at_ += next() == ',' ? 1 : 0;
        }
        ++at_;
        return table;
    }

    /// A number, true, false, or a date, which stays text.
    TomlTree read_bare_value() {
        const std::size_t begin = at_;
        while (is_bare(next()) || next() == '+' || next() == '.' || next() == ':') {
            ++at_;
        }
        const std::string word(text_.substr(begin, at_ - begin));
        if (word == "true" || word == "false") {
            return word == "true";
        }
        const bool starts_number = !word.empty() && (std::isdigit(static_cast<unsigned char>(word.front())) != 0 ||
                                                     ((word.front() == '-' || word.front() == '+') && word.size() > 1));
        if (!starts_number) {
            at_ = begin;
            fail(word.empty() ? "a value is missing" : "strings stand in quotes");
        }
        return number_or_date(word);
    }

    [[nodiscard]] TomlTree number_or_date(std::string word) const {
        const std::string as_written = word;
        word.erase(std::remove(word.begin(), word.end(), '_'), word.end());
        word.erase(0, word.front() == '+' ? 1 : 0);
        for (const auto& [prefix, base] : {std::pair{"0x", 16}, {"0o", 8}, {"0b", 2}}) {
            if (word.starts_with(prefix)) {
                std::size_t used = 0;
                const std::string digits = word.substr(2);
                const bool alone =
                    !digits.empty() && digits.size() < 16 && std::isalnum(static_cast<unsigned char>(digits[0])) != 0;
                const long long number = alone ? std::stoll("0" + digits, &used, base) : 0;
                return alone && used == digits.size() + 1 ? TomlTree(number) : TomlTree(as_written);
            }
        }
        if (const auto whole = text::parse_number<long long>(word)) {
            return *whole;
        }
        if (const auto number = text::parse_number(word)) {
            return *number;
        }
        return as_written;
    }

    std::string read_string() {
        const char quote = next();
        const bool lines = starts(quote == '"' ? "\"\"\"" : "'''");
        at_ += lines ? 3 : 1;
        if (lines) {
            at_ += starts("\r\n") ? 2 : next() == '\n' ? 1 : 0;
        }
        std::string value;
        const std::string end(lines ? 3 : 1, quote);
        while (!starts(end)) {
            if (at_ >= text_.size() || (!lines && next() == '\n')) {
                fail("a string does not end");
            }
            quote == '"' && next() == '\\' ? read_escape(value, lines) : static_cast<void>(value += text_[at_++]);
        }
        at_ += end.size();
        while (lines && next() == quote) {  // a quote before the end
            value += text_[at_++];
        }
        return value;
    }

    void read_escape(std::string& value, bool lines) {
        ++at_;
        const char c = next();
        constexpr std::string_view named = "btnfre\"\\", letters = "\b\t\n\f\r\x1b\"\\";
        if (const std::size_t letter = named.find(c); letter != std::string_view::npos && c != '\0') {
            value += letters[letter];
            ++at_;
        } else if (c == 'u' || c == 'U') {
            const std::size_t digits = c == 'u' ? 4 : 8;
            const std::string hex(text_.substr(std::min(at_ + 1, text_.size()), digits));
            const bool all = hex.size() == digits &&
                             std::all_of(hex.begin(), hex.end(), [](unsigned char d) { return std::isxdigit(d) != 0; });
            const std::string letter_of_code = all ? utf8_of_code(std::stoul(hex, nullptr, 16)) : "";
            if (letter_of_code.empty()) {
                fail("\\u is followed by four digits of a letter, \\U by eight");
            }
            value += letter_of_code;
            at_ += 1 + digits;
        } else if (lines && (c == '\n' || c == '\r' || c == ' ' || c == '\t')) {
            while (next() == '\n' || next() == '\r' || next() == ' ' || next() == '\t') {
                ++at_;
            }
        } else {
            fail("a backslash is written twice, or the string in single quotes");
        }
    }

    void count() {
        if (++values_ > most_toml_values) {
            throw TomlFailure{"holds more than " + std::to_string(most_toml_values) + " values"};
        }
    }

    std::string_view text_;
    std::vector<std::string>& repeated_;
    std::size_t at_ = 0, values_ = 0;
};

}  // namespace

ParsedToml parse_toml(std::string_view text) {
    ParsedToml parsed;
    if (text::as_utf8(std::string(text)) != text) {
        parsed.failure = "is not UTF-8 text";
        return parsed;
    }
    try {
        parsed.tree = TomlReader(text, parsed.repeated_keys).read();
    } catch (const TomlFailure& failure) {
        parsed.failure = failure.why;
        parsed.tree = nullptr;
    }
    return parsed;
}

}  // namespace treeline::json
