// Comma-separated values as RFC 4180 describes them: quoted fields may hold commas, doubled quotes and line breaks; lines end
// in LF or CRLF, the last one perhaps in nothing. Beyond it: a byte order mark, empty lines, lines that start with # and spaces
// around fields do not count. Bytes that are not UTF-8 become U+FFFD.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace treeline::text {

class CsvReader {
public:
    /// Reads the header; `text` must outlive the reader.
    explicit CsvReader(std::string_view text);

    /// Empty where the text is.
    [[nodiscard]] const std::vector<std::string>& header() const { return header_; }
    [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;

    /// Goes to the next row; false after the last.
    bool next();
    /// What is wrong with the row ("has 3 fields, but the header has 2"); empty if it has a field for each column.
    [[nodiscard]] std::string problem() const;
    [[nodiscard]] const std::vector<std::string>& fields() const { return fields_; }
    /// The field of a column. Precondition: both exist.
    [[nodiscard]] const std::string& operator[](std::string_view column_name) const { return fields_.at(*column(column_name)); }
    /// Where the row begins, from 1.
    [[nodiscard]] int line() const { return line_; }

private:
    void skip(std::size_t characters);
    std::string field();
    std::string quoted_part();

    std::string_view rest_;
    std::vector<std::string> header_, fields_;
    int line_ = 0, next_line_ = 1;
    bool is_open_ = false;  ///< a quoted field never ends
};

}  // namespace treeline::text
