#include "text/csv.h"

#include <algorithm>

#include "text/plain_text.h"
#include "text/trimmed.h"

namespace treeline::text {

CsvReader::CsvReader(std::string_view text) : rest_(text) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (rest_.starts_with(byte_order_mark)) {
        rest_.remove_prefix(byte_order_mark.size());
    }
    if (next()) {
        header_ = std::move(fields_);
    }
}

std::optional<std::size_t> CsvReader::column(std::string_view name) const {
    const auto found = std::find(header_.begin(), header_.end(), name);
    return found == header_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - header_.begin()));
}

bool CsvReader::next() {
    fields_.clear();
    while (!rest_.empty()) {
        line_ = next_line_;
        const std::string_view first_line = rest_.substr(0, rest_.find('\n'));
        const std::size_t content = first_line.find_first_not_of(" \t\r");
        if (content == std::string_view::npos || first_line[content] == '#') {
            skip(first_line.size() + 1);
            continue;
        }
        fields_.push_back(field());
        while (rest_.starts_with(',')) {
            skip(1);
            fields_.push_back(field());
        }
        skip(1);
        return true;
    }
    return false;
}

std::string CsvReader::problem() const {
    if (is_open_) {
        return "opens a quote that is never closed";
    }
    return fields_.size() == header_.size()
               ? ""
               : "has " + std::to_string(fields_.size()) + " fields, but the header has " + std::to_string(header_.size());
}

void CsvReader::skip(std::size_t characters) {
    const std::string_view skipped = rest_.substr(0, characters);
    next_line_ += static_cast<int>(std::count(skipped.begin(), skipped.end(), '\n'));
    rest_.remove_prefix(skipped.size());
}

std::string CsvReader::field() {
    skip(rest_.find_first_not_of(" \t"));
    std::string value = rest_.starts_with('"') ? quoted_part() : "";
    const std::size_t end = rest_.find_first_of(",\n");
    value += trimmed(rest_.substr(0, end));
    skip(end);
    return as_utf8(value);
}

std::string CsvReader::quoted_part() {
    std::string value;
    for (const char* doubled = ""; rest_.starts_with('"'); doubled = "\"") {
        value += doubled;
        skip(1);
        const std::size_t end = rest_.find('"');
        is_open_ = end == std::string_view::npos;
        value += rest_.substr(0, end);
        skip(is_open_ ? end : end + 1);
    }
    return value;
}

}  // namespace treeline::text
