#include "text/table.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "text/parse_number.h"

namespace treeline::text {
namespace {

constexpr std::string_view gap = "  ";

std::string padded(const std::string& text, std::size_t width, Align align) {
    const std::size_t length = display_width(text);
    const std::string spaces(width > length ? width - length : 0, ' ');
    return align == Align::left ? text + spaces : spaces + text;
}

void strip_trailing_spaces(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

}  // namespace

std::size_t display_width(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;  // not a continuation byte
    }));
}

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

void TextTable::add(std::vector<std::string> cells) {
    if (cells.size() > columns_.size()) {
        throw std::invalid_argument("A table row has more cells than the table has columns.");
    }
    cells.resize(columns_.size());
    rows_.push_back(std::move(cells));
}

void TextTable::add_rule() { rows_.emplace_back(); }

std::string TextTable::text(std::string_view indent) const {
    std::vector<std::size_t> widths;
    for (const Column& column : columns_) {
        widths.push_back(display_width(column.title));
    }
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], display_width(row[i]));
        }
    }
    std::string out;
    const auto append_line = [&](const auto& cell_at) {
        std::string line(indent);
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            line += (i == 0 ? "" : std::string(gap)) + cell_at(i);
        }
        strip_trailing_spaces(line);
        out += line + "\n";
    };
    const auto append_rule = [&] { append_line([&](std::size_t i) { return std::string(widths[i], '-'); }); };
    append_line([&](std::size_t i) { return padded(columns_[i].title, widths[i], columns_[i].align); });
    append_rule();
    for (const auto& row : rows_) {
        if (row.empty()) {
            append_rule();
        } else {
            append_line([&](std::size_t i) { return padded(row[i], widths[i], columns_[i].align); });
        }
    }
    return out;
}

void FactList::add(std::string name, std::string value) { facts_.emplace_back(std::move(name), std::move(value)); }

std::string FactList::text(std::string_view indent) const {
    std::size_t width = 0;
    for (const auto& fact : facts_) {
        width = std::max(width, display_width(fact.first));
    }
    std::string out;
    for (const auto& [name, value] : facts_) {
        std::string line = std::string(indent) + padded(name, width, Align::left) + std::string(gap) + value;
        strip_trailing_spaces(line);
        out += line + "\n";
    }
    return out;
}

std::string csv_field(std::string_view text) {
    const bool outer_space = !text.empty() && (text.front() == ' ' || text.back() == ' ');
    if (!outer_space && text.find_first_of(",\"\r\n") == std::string_view::npos) {
        return std::string(text);
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c;
        if (c == '"') {
            quoted += '"';
        }
    }
    return quoted + "\"";
}

std::string csv_line(const std::vector<std::string>& fields) {
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        line += (i == 0 ? "" : ",") + csv_field(fields[i]);
    }
    return line + "\n";
}

std::string for_spreadsheet(std::string_view csv) {
    std::string guarded;
    while (!csv.empty()) {
        const bool quoted = csv.front() == '"';
        std::size_t end = 0;
        for (bool inside = false; end < csv.size() && (inside || (csv[end] != ',' && csv[end] != '\n')); ++end) {
            inside = inside != (csv[end] == '"');
        }
        const std::string_view field = csv.substr(0, end), content = field.substr(quoted ? 1 : 0);
        const bool formula = !content.empty() && std::string_view("=+-@\t").find(content.front()) != std::string_view::npos &&
                             !parse_number(content);
        guarded += formula ? (quoted ? "\"'" : "'") : quoted ? "\"" : "";
        guarded += content;
        guarded += csv.substr(end, 1);
        csv.remove_prefix(std::min(end + 1, csv.size()));
    }
    return guarded;
}

std::string wrapped(std::string_view text, std::size_t width, std::string_view indent) {
    std::string out;
    std::size_t line_width = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string_view word = text.substr(at, end - at);
        const std::size_t word_width = display_width(word);
        if (line_width > 0 && line_width + 1 + word_width > width) {
            out += "\n" + std::string(indent);
            line_width = display_width(indent);
        } else if (line_width > 0) {
            out += ' ';
            ++line_width;
        }
        out += word;
        line_width += word_width;
        at = end + 1;
    }
    return out;
}

}  // namespace treeline::text
