// Tables as text: aligned columns for terminals, CSV for programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace treeline::text {

enum class Align { left, right };

struct Column {
    std::string title;
    Align align = Align::right;
};

/// Rows of text in aligned columns, with a line under the titles. Widths count characters, not bytes (UTF-8).
class TextTable {
public:
    explicit TextTable(std::vector<Column> columns);

    /// A row with fewer cells than columns is padded with empty ones; more throw std::invalid_argument.
    void add(std::vector<std::string> cells);
    /// A rule, to set sums apart.
    void add_rule();

    [[nodiscard]] bool empty() const { return rows_.empty(); }
    /// Every line ends in a line feed and none has trailing spaces.
    [[nodiscard]] std::string text(std::string_view indent = {}) const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;  ///< an empty row is a rule
};

/// "name   value" lines, values aligned.
class FactList {
public:
    void add(std::string name, std::string value);
    [[nodiscard]] std::string text(std::string_view indent = {}) const;

private:
    std::vector<std::pair<std::string, std::string>> facts_;
};

/// Characters of a UTF-8 text (each code point counts one).
std::size_t display_width(std::string_view text);

/// One field of a CSV line (RFC 4180): quoted where it holds a comma, a quote, a line break or outer spaces.
std::string csv_field(std::string_view text);
/// A line of fields, line feed included.
std::string csv_line(const std::vector<std::string>& fields);
/// Lines of csv_line() with an apostrophe before fields that a spreadsheet would take for a formula: those that begin with =,
/// +,
/// -, @ or a tab and are no numbers.
std::string for_spreadsheet(std::string_view csv);

/// Breaks a text into lines of at most `width` characters between words; every line but the first starts with `indent`.
std::string wrapped(std::string_view text, std::size_t width, std::string_view indent = {});

}  // namespace treeline::text
