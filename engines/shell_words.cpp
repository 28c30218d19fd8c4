#include "engines/shell_words.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "engines/quotes.h"
#include "text/input_error.h"

namespace treeline::engines {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

struct Assignment {
    std::string name;
    bool adds = false;
    std::string value;
};

std::optional<Assignment> assignment_of(std::string_view word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0) {
        return std::nullopt;
    }
    const bool adds = word[equals - 1] == '+';
    const std::string_view name = word.substr(0, equals - (adds ? 1 : 0));
    const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(),
                                                      [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    return is_name ? std::optional(Assignment{std::string(name), adds, std::string(word.substr(equals + 1))}) : std::nullopt;
}

class Reader {
public:
    Reader(std::string_view text, ShellVariables& variables) : text_(text), variables_(variables) {}

    ShellWords read() {
        begin_line();
        while (at_ < text_.size()) {
            take();
        }
        end_word();
        if (list_) {  // it stays open: no list
            result_.words.insert(result_.words.end(), list_->words.begin(), list_->words.end());
        }
        return std::move(result_);
    }

private:
    struct List {
        Assignment to;
        std::vector<std::string> words;
    };

    void append(std::string_view part) {
        if (!word_) {
            word_.emplace();
        }
        word_->append(part);
    }

    void begin_line() {
        if (!list_ && (result_.line_starts.empty() || result_.line_starts.back() != result_.words.size())) {
            result_.line_starts.push_back(result_.words.size());
        }
    }

    /// Which branch runs is not known: that which switches off ("", 0) takes no value away.
    void assign(const Assignment& to) {
        const bool switches_off = (branches_ > 0 || cases_ > 0) && !to.adds && (to.value.empty() || to.value == "0");
        if (!switches_off || !variables_.has(to.name)) {
            variables_.assign(to.name, {to.value}, to.adds, false);
        }
    }

    void end_word() {
        brackets_ = 0;
        if (!word_) {
            return;
        }
        const std::string word = *std::exchange(word_, std::nullopt);
        if (list_) {
            list_->words.push_back(word);
            return;
        }
        if (const std::optional<Assignment> to = assignment_of(word)) {
            assign(*to);
        }
        std::vector<std::string>& words = result_.words;
        const bool begins_line = result_.line_starts.back() == words.size();
        branches_ += begins_line && word == "if" ? 1 : begins_line && word == "fi" ? -std::min(branches_, 1) : 0;
        words.push_back(word);
        if (word == "in" && words.size() > 2 && words[words.size() - 3] == "case") {
            ++cases_;
            before_pattern_ = true;
        }
    }

    /// The list that opens here ("NAME=(").
    void begin_list() {
        list_ = List{*assignment_of(*std::exchange(word_, std::nullopt)), {}};
        ++at_;
    }

    void end_list() {
        end_word();
        const List list = std::move(*std::exchange(list_, std::nullopt));
        ++at_;
        const std::string_view rest = text_.substr(at_);
        constexpr int most_sought = 256;  // each to the end of the text
        if (++lists_ <= most_sought && rest.find("{" + list.to.name + "[") == std::string_view::npos &&
            rest.find("$" + list.to.name) == std::string_view::npos) {
            begin_line();
            result_.words.insert(result_.words.end(), list.words.begin(), list.words.end());
        }
        variables_.assign(list.to.name, list.words, list.to.adds, true);
    }

    /// Past a pattern of "case", where it ends in its line.
    void skip_pattern() {
        before_pattern_ = false;
        if (text_.substr(at_).starts_with("esac")) {
            --cases_;
            return;
        }
        Quotes quotes;
        for (std::size_t end = at_; end < text_.size() && text_[end] != '\n'; ++end) {
            if (!quotes.take(text_[end]) && text_[end] == ')') {
                at_ = end + 1;
                begin_line();
                return;
            }
        }
    }

    /// A bracket that none in its word opens ends it; with a "|" in it, it was a pattern.
    void take_closing_bracket() {
        if (brackets_ > 0) {
            --brackets_;
            append(")");
        } else if (word_ && word_->find('|') != std::string::npos) {
            word_.reset();
        } else {
            end_word();
        }
        ++at_;
    }

    void take_semicolon() {
        end_word();
        before_pattern_ = cases_ > 0 && text_.substr(at_).starts_with(";;");
        at_ += before_pattern_ ? 2 : 1;
        begin_line();
    }

    void take_backslash() {
        const bool carriage = text_.substr(at_ + 1).starts_with("\r\n");
        if (!carriage && text_[at_ + 1] != '\n') {
            append(text_.substr(at_ + 1, 1));
        }
        at_ += carriage ? 3 : 2;
    }

    /// Without quotes a value is split at its blanks, but in another assignment.
    void append_split(std::string_view value) {
        const bool whole = word_ && assignment_of(*word_);
        while (!value.empty()) {
            const std::size_t length = whole ? value.size() : std::min(value.find_first_of(" \t\n\r"), value.size());
            if (length > 0) {
                append(value.substr(0, length));
                value.remove_prefix(length);
            } else {
                end_word();
                value.remove_prefix(1);
            }
        }
    }

    void append_expansion(bool in_quotes) {
        const ShellExpansion expansion = variables_.expand(text_, at_, in_quotes);
        for (std::size_t i = 0; i < expansion.words.size(); ++i) {
            if (i > 0) {
                end_word();
            }
            if (expansion.splits && !in_quotes) {
                append_split(expansion.words[i]);
            } else {
                append(expansion.words[i]);
            }
        }
    }

    void take_quoted(char quote) {
        const std::size_t begin = ++at_;
        if (text_.substr(at_).starts_with(quote)) {
            append("");
        }
        for (; at_ < text_.size();) {
            const char c = text_[at_];
            const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : char(0);
            if (c == quote) {
                ++at_;
                return;
            }
            if (quote == '"' && c == '$') {
                append_expansion(true);
            } else if (quote == '"' && c == '\\' && next != 0 &&
                       std::string_view("\n\"\\$`").find(next) != std::string_view::npos) {
                append(next == '\n' ? std::string_view() : text_.substr(at_ + 1, 1));
                at_ += 2;
            } else {
                append(text_.substr(at_++, 1));
            }
        }
        throw text::InputError(
            {std::string("the command line ends within a quote: ") + quote + std::string(text_.substr(begin, 40))});
    }

    void take() {
        const char c = text_[at_];
        if (is_space(c)) {
            end_word();
            ++at_;
            if (c == '\n') {
                begin_line();
            }
        } else if (c == '#' && !word_) {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else if (before_pattern_ && !word_) {
            skip_pattern();
        } else if (c == '\'' || c == '"') {
            take_quoted(c);
        } else if (c == '$') {
            append_expansion(false);
        } else if (c == '\\' && at_ + 1 < text_.size()) {
            take_backslash();
        } else if (c == '(' && word_ && !list_ && word_->back() == '=' && assignment_of(*word_)) {
            begin_list();
        } else if (c == ')' && list_) {
            end_list();
        } else if (c == ')') {
            take_closing_bracket();
        } else if (c == ';') {
            take_semicolon();
        } else {
            brackets_ += c == '(' ? 1 : 0;
            append(text_.substr(at_++, 1));
        }
    }

    std::string_view text_;
    ShellVariables& variables_;
    std::size_t at_ = 0;
    ShellWords result_;
    std::optional<std::string> word_;
    std::optional<List> list_;  ///< that is open
    int lists_ = 0;
    int brackets_ = 0;              ///< open in the word
    int branches_ = 0, cases_ = 0;  ///< open
    bool before_pattern_ = false;
};

}  // namespace

bool is_assignment(std::string_view word) { return assignment_of(word).has_value(); }

ShellWords split_shell_words(std::string_view text, ShellVariables& variables) { return Reader(text, variables).read(); }

}  // namespace treeline::engines
