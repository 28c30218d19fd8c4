#include "runs/formats/load_numbers.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "runs/builder.h"
#include "sim/input_limits.h"
#include "text/parse_number.h"
#include "text/trimmed.h"

namespace treeline::runs::run_formats_of {
namespace {

using text::trimmed;

/// "1,034.5" as "1034.5", and "22,5", as most of Europe writes it, as "22.5".
std::string with_points(const std::string& cell) {
    constexpr std::size_t group = 3;
    std::string text;
    for (std::size_t at = 0; at < cell.size(); ++at) {
        const std::size_t end = std::min(cell.find_first_not_of("0123456789", at + 1), cell.size());
        const bool decimal = cell[at] == ',' && end > at + 1 && end - at - 1 < group && at > 0 &&
                             std::isdigit(static_cast<unsigned char>(cell[at - 1])) != 0 &&
                             (end == cell.size() || cell[end] != ',');
        text += cell[at] != ',' ? std::string(1, cell[at]) : decimal ? "." : "";
    }
    return text;
}

/// "~14 tok/s" without its sign.
std::string without_about(std::string cell) {
    for (const std::string_view about : {"~", "\u2248", "ca. ", "ca "}) {
        cell = cell.starts_with(about) ? trimmed(std::string_view(cell).substr(about.size())) : cell;
    }
    return cell;
}

}  // namespace

int whole_number(std::string_view word) {
    const std::optional<int> number = text::parse_number<int>(std::string(word));
    const bool digits = !word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) != 0;
    return digits && number && *number <= sim::most_draft_tokens ? *number : -1;
}

std::optional<std::pair<std::string, std::string>> sides_of_arrow(std::string_view text) {
    for (const std::string_view arrow : {"\u2192", "\u2794", "\u279C", "\u21D2", "-->", "->", "=>"}) {
        if (const std::size_t at = text.find(arrow); at != std::string_view::npos) {
            return std::pair{trimmed(text.substr(0, at)), trimmed(text.substr(at + arrow.size()))};
        }
    }
    return std::nullopt;
}

std::string unit_of(const std::string& text) {
    const std::string cell = without_about(text);
    const std::size_t digits = cell.find_first_of("0123456789");
    if (digits != 0) {
        return {};
    }
    std::string unit = cell.substr(std::min(cell.find_first_not_of("0123456789.,"), cell.size()));
    if (const std::size_t spread = unit.find("\u00B1"); spread != std::string::npos) {  // "11.3 ± 0.4 t/s"
        const std::string behind = trimmed(std::string_view(unit).substr(spread + 2));
        unit = unit.substr(0, spread) + behind.substr(std::min(behind.find_first_not_of("0123456789.,"), behind.size()));
    }
    return unit.substr(0, unit.find('('));
}

std::optional<double> number_of(std::string cell, double thousand) {
    if (sides_of_arrow(cell)) {
        return std::nullopt;
    }
    cell = without_about(with_points(cell));
    const std::optional<double> number = number_after(cell, "");
    const std::size_t after = cell.find_first_not_of("0123456789. ");
    const bool thousands = number && after != std::string::npos && after > 0 && (cell[after] == 'k' || cell[after] == 'K');
    return thousands ? std::optional(*number * thousand) : number;
}

std::optional<double> mean_of_runs(const std::string& cell) {
    constexpr double largest_spread = 0.2;
    if (const std::size_t bracket = cell.find('(');
        bracket != std::string::npos && number_of(cell.substr(0, bracket), 1000.0)) {
        return mean_of_runs(cell.substr(0, bracket));  // "41.2 (39.8-42.5)"
    }
    std::string parts;
    for (std::size_t at = 0; at < cell.size(); ++at) {
        const bool dash = cell.compare(at, 3, "\u2013") == 0, hyphen = cell[at] == '-';
        const std::size_t next = std::min(cell.find_first_not_of(' ', at + (dash ? 3 : 1)), cell.size());
        const bool range = (dash || hyphen) && at > 0 && cell[at - 1] != 'e' && next < cell.size() &&
                           std::isdigit(static_cast<unsigned char>(cell[next])) != 0;
        parts += range ? '/' : cell[at];
        at += range && dash ? 2 : 0;
    }
    double sum = 0.0;
    int runs = 0;
    std::istringstream in(parts);
    for (std::string part; std::getline(in, part, '/');) {
        const std::optional<double> number = number_of(trimmed(part), 1000.0);
        if (!number) {
            break;  // "59.4 tok/s"
        }
        const bool last_of_two = runs == 1 && std::count(parts.begin(), parts.end(), '/') == 1;
        if (last_of_two && *number < largest_spread * sum) {
            break;  // "31.00/0.07": a mean and its spread
        }
        sum += *number;
        ++runs;
    }
    return runs > 0 ? std::optional(sum / runs) : std::nullopt;
}

}  // namespace treeline::runs::run_formats_of
