#include "json/parse.h"

#include <algorithm>
#include <cctype>
#include <list>
#include <unordered_map>

#include "json/wording.h"

namespace treeline::json {
namespace {

using Json = nlohmann::ordered_json;

std::string line_and_column(std::string_view text, std::size_t position) {
    const std::string_view before = text.substr(0, std::min(position, text.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    return "line " + std::to_string(line) + ", column " + std::to_string(std::max<std::size_t>(1, before.size() - line_start));
}

/// The parser's explanation without its error number and position.
std::string reason_of(const std::string& what) {
    const std::size_t column = what.find(", column ");
    const std::size_t colon = column == std::string::npos ? what.find("] ") : what.find(": ", column);
    return text::shortened(colon == std::string::npos ? what : what.substr(colon + 2), 200);
}

/// What people get wrong at the last letter that was read, as a sentence; empty where it is something else.
std::string slip_at(std::string_view text, std::size_t position) {
    if (position == 0 || position > text.size()) {
        return {};
    }
    const char last = text[position - 1];
    const std::size_t before = text.substr(0, position - 1).find_last_not_of(" \t\r\n");
    const char previous = before == std::string_view::npos ? '\0' : text[before];
    if (previous == ',' && (last == '}' || last == ']')) {
        return "a comma before a closing bracket; remove it";
    }
    if (last == '\'') {
        return "JSON takes double quotes, not single ones";
    }
    const bool begins_a_word = std::isalpha(static_cast<unsigned char>(last)) != 0 || last == '_';
    return begins_a_word && (previous == '{' || previous == ',')
               ? "a key without double quotes; a shell takes them away unless the whole stands in single quotes"
               : "";
}

/// Which of the values of a key that stands twice.
enum class Counts { first, last };

/// Builds the tree from the parser's events.
class Builder : public nlohmann::json_sax<Json> {
public:
    Builder(std::string_view text, Parsed& result, Counts counts) : text_(text), result_(result), counts_(counts) {}

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t&) override { return add(value); }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t&) override { return false; }

    bool start_object(std::size_t) override { return open(Json::object()); }
    bool start_array(std::size_t) override { return open(Json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(string_t& name) override {
        Level& level = levels_.back();
        level.key = name;
        const auto [known, is_new] = level.keys.try_emplace(name, level.keys.size());
        level.member = known->second;
        level.duplicate = !is_new;
        if (level.duplicate) {
            result_.duplicate_keys.push_back(path());
        }
        return true;
    }

    bool parse_error(std::size_t position, const std::string&, const Json::exception& error) override {
        const std::string what = error.what();
        const std::string where = line_and_column(text_, position);
        if (what.find("UTF-8") != std::string::npos) {
            result_.failure = "is not UTF-8 text (" + where + ")";
        } else if (what.find("unexpected end of input") != std::string::npos ||
                   what.find("missing closing quote") != std::string::npos) {
            result_.failure = "ends in the middle of the JSON (" + where + "): is it truncated?";
        } else if (position > 0 && position <= text_.size() && (text_[position - 1] == 'N' || text_[position - 1] == 'I')) {
            result_.failure = "is not JSON at " + where + ": NaN and Infinity are not JSON numbers";
        } else {
            const std::string slip = slip_at(text_, position);
            result_.failure = "is not JSON at " + where + ": " + (slip.empty() ? reason_of(what) : slip);
        }
        return false;
    }

private:
    struct Level {
        Json* node;
        std::string key;         ///< of the member being read, where node is an object
        std::size_t member = 0;  ///< its place among the members
        bool duplicate = false;
        std::unordered_map<std::string, std::size_t> keys;
    };

    /// Where the key that is being read stands; arrays on the way already hold the element that is being read.
    [[nodiscard]] std::string path() const {
        std::string result;
        for (const Level& level : levels_) {
            if (level.node->is_array()) {
                result += "[" + std::to_string(level.node->size() - 1) + "]";
            } else {
                result += (result.empty() ? "" : ".") + shown_key(level.key);
            }
        }
        return result;
    }

    /// Puts a value where the parser is; the pointer stays valid until its container gets the next element.
    Json* place(Json value) {
        if (levels_.empty()) {
            result_.tree = std::move(value);
            return &result_.tree;
        }
        Level& level = levels_.back();
        if (level.node->is_array()) {
            level.node->push_back(std::move(value));
            return &level.node->back();
        }
        auto& members = level.node->get_ref<Json::object_t&>();
        if (level.duplicate && counts_ == Counts::first) {
            return &discarded_.emplace_back(std::move(value));
        }
        if (level.duplicate) {
            Json& member = (members.begin() + static_cast<std::ptrdiff_t>(level.member))->second;
            member = std::move(value);
            return &member;
        }
        members.emplace_back(level.key, std::move(value));  // of std::vector: key() has looked for duplicates
        return &members.back().second;
    }

    bool add(Json value) {
        place(std::move(value));
        return true;
    }

    bool open(Json container) {
        if (levels_.size() >= deepest_nesting) {
            result_.failure = too_deep_text();
            return false;
        }
        levels_.push_back({place(std::move(container)), {}, 0, false, {}});
        return true;
    }

    bool close() {
        levels_.pop_back();
        return true;
    }

    std::string_view text_;
    Parsed& result_;
    Counts counts_;
    std::vector<Level> levels_;
    std::list<Json> discarded_;  ///< values of duplicate keys: parsed to the end, then dropped
};

}  // namespace

std::string too_deep_text() { return "nests deeper than " + std::to_string(deepest_nesting) + " levels"; }

bool nests_too_deep(std::string_view text) {
    std::size_t open = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted) {
            i += c == '\\' ? 1 : 0;
            quoted = c != '"';
        } else if (c == '"') {
            quoted = true;
        } else if (c == '[' || c == '{') {
            if (++open > deepest_nesting) {
                return true;
            }
        } else if ((c == ']' || c == '}') && open > 0) {
            --open;
        }
    }
    return false;
}

Parsed parse_strictly(std::string_view text) {
    Parsed result;
    Builder builder(text, result, Counts::first);
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        result.failure = "is empty";
    } else if (!Json::sax_parse(text.begin(), text.end(), &builder) && result.failure.empty()) {
        result.failure = "is not JSON";
    } else if (const std::size_t zero = text.find('\0'); result.failure.empty() && zero != std::string_view::npos) {
        // nlohmann's parser takes it for the end, and would pass over what follows.
        result.failure = "is not JSON at " + line_and_column(text, zero + 1) + ": a zero byte";
    }
    return result;
}

std::optional<Json> parse_foreign_in_order(std::string_view text) {
    Parsed result;
    Builder builder(text, result, Counts::last);
    const bool parsed = !nests_too_deep(text) && Json::sax_parse(text.begin(), text.end(), &builder);
    return parsed ? std::optional(std::move(result.tree)) : std::nullopt;
}

}  // namespace treeline::json
